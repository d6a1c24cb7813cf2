// SPDX-License-Identifier: BSL-1.0

//! What tokio's tasks and channels cost: PROGRAM WORKLOAD WHAT COUNT; see channel.hpp and
//! coroutine.hpp of those workloads. It prints nanoseconds, and the sum that all implementations
//! agree on.

use std::cell::Cell;
use std::future::Future;
use std::time::Instant;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{channel, Receiver, Sender};
use tokio::task::{spawn, yield_now};

fn one_thread() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

fn two_threads() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).build().unwrap()
}

/// In a task of its own: the future of `block_on` is polled in another way.
fn run<F>(runtime: Runtime, future: F) -> u64
where
    F: Future<Output = u64> + Send + 'static,
{
    runtime.block_on(async { spawn(future).await.unwrap() })
}

async fn produce(to: Sender<u64>, count: u64) {
    for i in 0..count {
        to.send(i).await.unwrap();
    }
}

async fn consume(mut from: Receiver<u64>, count: u64) -> u64 {
    let mut sum = 0;
    for _ in 0..count {
        sum += from.recv().await.unwrap();
    }
    sum
}

async fn buffered(count: u64) -> u64 {
    let (to, from) = channel(1024);
    spawn(produce(to, count));
    spawn(consume(from, count)).await.unwrap()
}

/// A channel of tokio's has room for one value at least.
async fn ping_pong(count: u64) -> u64 {
    let (there, mut there_end) = channel(1);
    let (back, mut back_end) = channel(1);
    spawn(async move {
        for _ in 0..count {
            back.send(there_end.recv().await.unwrap()).await.unwrap();
        }
    });
    let mut sum = 0;
    for i in 0..count {
        there.send(i).await.unwrap();
        sum += back_end.recv().await.unwrap();
    }
    sum
}

async fn take_turns(count: u64) -> u64 {
    let mut sum = 0;
    for i in 0..count {
        yield_now().await;
        sum += i;
    }
    sum
}

thread_local! {
    static SUM: Cell<u64> = const { Cell::new(0) };
    static ENDED: Cell<u64> = const { Cell::new(0) };
}

async fn spawn_empty(count: u64) -> u64 {
    const BATCH: u64 = 64;
    let mut i = 0;
    while i < count {
        let end = count.min(i + BATCH);
        while i < end {
            let n = i;
            spawn(async move {
                SUM.set(SUM.get() + n);
                ENDED.set(ENDED.get() + 1);
            });
            i += 1;
        }
        while ENDED.get() < end {
            yield_now().await;
        }
    }
    SUM.get()
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let count: u64 = arguments[3].parse().unwrap();
    let start = Instant::now();
    let sum = match (arguments[1].as_str(), arguments[2].as_str()) {
        ("channel", "1") => run(one_thread(), buffered(count)),
        ("channel", "2") => run(two_threads(), buffered(count)),
        ("channel", "4") => run(one_thread(), ping_pong(count)),
        ("coroutine", "1") => run(one_thread(), take_turns(count)),
        ("coroutine", "2") => run(one_thread(), spawn_empty(count)),
        (workload, what) => panic!("no workload {workload} {what}"),
    };
    println!("{} {}", start.elapsed().as_nanos(), sum);
}

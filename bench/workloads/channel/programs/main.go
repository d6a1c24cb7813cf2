// SPDX-License-Identifier: BSL-1.0

// What channels cost between goroutines: main WHAT COUNT; see ../channel.hpp. It prints nanoseconds,
// the sum of what was received, and bytes per waiting goroutine.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

func buffered(count uint64) uint64 {
	c := make(chan uint64, 1024)
	go func() {
		for i := uint64(0); i != count; i++ {
			c <- i
		}
	}()
	sum := uint64(0)
	for i := uint64(0); i != count; i++ {
		sum += <-c
	}
	return sum
}

func pingPong(count uint64) uint64 {
	there, back := make(chan uint64), make(chan uint64)
	go func() {
		for i := uint64(0); i != count; i++ {
			back <- <-there
		}
	}()
	sum := uint64(0)
	for i := uint64(0); i != count; i++ {
		there <- i
		sum += <-back
	}
	return sum
}

func waiting(count uint64) (uint64, uint64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	c, sums := make(chan uint64), make(chan uint64)
	for i := uint64(0); i != count; i++ {
		go func() { sums <- <-c }()
	}
	runtime.Gosched()
	runtime.ReadMemStats(&after)
	go func() {
		for i := uint64(0); i != count; i++ {
			c <- i
		}
	}()
	sum := uint64(0)
	for i := uint64(0); i != count; i++ {
		sum += <-sums
	}
	return sum, (after.Sys - before.Sys) / count
}

func main() {
	what := os.Args[1]
	count, _ := strconv.ParseUint(os.Args[2], 10, 64)
	if what == "2" {
		runtime.GOMAXPROCS(2)
	} else {
		runtime.GOMAXPROCS(1)
	}
	var sum, bytes uint64
	start := time.Now()
	switch what {
	case "1", "2":
		sum = buffered(count)
	case "4":
		sum = pingPong(count)
	case "5":
		sum, bytes = waiting(count)
	default:
		panic("no workload " + what)
	}
	fmt.Println(time.Since(start).Nanoseconds(), sum, bytes)
}

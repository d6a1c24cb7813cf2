// SPDX-License-Identifier: BSL-1.0

// What goroutines cost: main WHAT COUNT; see ../coroutine.hpp. It prints nanoseconds, and the sum.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

func takeTurns(count uint64) uint64 {
	sum := uint64(0)
	for i := uint64(0); i != count; i++ {
		runtime.Gosched()
		sum += i
	}
	return sum
}

func spawnEmpty(count uint64) uint64 {
	const batch = 64
	var sum, ended uint64
	for i := uint64(0); i < count; {
		end := min(count, i+batch)
		for ; i != end; i++ {
			go func(n uint64) {
				sum += n
				ended++
			}(i)
		}
		for ended < end {
			runtime.Gosched()
		}
	}
	return sum
}

func main() {
	what := os.Args[1]
	count, _ := strconv.ParseUint(os.Args[2], 10, 64)
	runtime.GOMAXPROCS(1)
	var sum uint64
	start := time.Now()
	switch what {
	case "1":
		sum = takeTurns(count)
	case "2":
		sum = spawnEmpty(count)
	default:
		panic("no workload " + what)
	}
	fmt.Println(time.Since(start).Nanoseconds(), sum)
}

package dynamo_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkStore_Hours reads the counts of the 25 hours of a review. Each hour has successes and
// failures of 60 minutes, 60 buckets of the histogram and 30 numbers of attempts: 210 attributes.
//
// The mass review assumes 20 ms on a function with 512 MB. Since 1,769 MB are one CPU, that is
// 20 ms x 512/1769 = 5.8 ms of a whole CPU. Compare it with cpu-ms/op, which includes the simulated
// server: ns/op depends on other load.
func BenchmarkStore_Hours(b *testing.B) {
	start := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	var items []string
	for hour := range 25 {
		item := fmt.Sprintf(`"pk":{"S":"endpoint#%s"},"sk":{"S":"stats#%s"}`, endpointID, start.Add(time.Duration(hour)*time.Hour).Format("2006-01-02T15"))
		for minute := range 60 {
			item += fmt.Sprintf(`,"o%02d":{"N":"1234"},"f%02d":{"N":"12"}`, minute, minute)
		}
		for bucket := range 60 {
			item += fmt.Sprintf(`,"h%d":{"N":"123"}`, 20+bucket)
		}
		for number := range 30 {
			item += fmt.Sprintf(`,"n%d":{"N":"123"}`, number)
		}
		items = append(items, "{"+item+"}")
	}
	_, store := newWire(b, answer{body: `{"Items":[` + strings.Join(items, ",") + `]}`})
	before := cpuTime(b)
	for b.Loop() {
		hours, err := store.Hours(b.Context(), endpointID, start)
		if err != nil || len(hours) != 25 {
			b.Fatalf("Hours() = %d hours, %v; want 25", len(hours), err)
		}
	}
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

// cpuTime returns the CPU time that the process has used.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()

	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

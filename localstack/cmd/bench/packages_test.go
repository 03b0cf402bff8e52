package main

import (
	"strings"
	"testing"
)

const output = `goos: linux
goarch: amd64
pkg: surehook/internal/rule/sign
cpu: Some CPU
BenchmarkStandard/v1/1024B-2         	  509313	      2345 ns/op	 436.72 MB/s	    2104 B/op	      14 allocs/op
PASS
ok  	surehook/internal/rule/sign	2.345s
pkg: surehook/internal/delivery/deliver
BenchmarkDeliverer_Batch/ratio/endpoints=10-2   	     340	   2096266 ns/op	         0.8125 of-bare	  278611 B/op	    2907 allocs/op
`

func TestDescribePackages(t *testing.T) {
	t.Parallel()

	got := describePackages(output)
	for _, want := range []string{
		"| sign.Standard/v1/1024B | 2.35 µs | 2104 | 14 |\n",
		"| endpoints=10 | 0.81 | >= 0.75 |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("describePackages(...) = %s; want %q in it", got, want)
		}
	}
	if strings.Contains(got, "2096266") || strings.Contains(got, "deliver.") {
		t.Errorf("describePackages(...) = %s; want the ratio apart from the times", got)
	}
}

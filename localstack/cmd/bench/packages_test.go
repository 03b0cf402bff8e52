package main

import (
	"strings"
	"testing"
)

const output = `goos: linux
goarch: amd64
pkg: surehook.example/surehook/internal/rule/sign
cpu: Some CPU
BenchmarkStandard/v1/1024B-2         	  509313	      2345 ns/op	 436.72 MB/s	    2104 B/op	      14 allocs/op
PASS
ok  	surehook.example/surehook/internal/rule/sign	2.345s
`

func TestDescribePackages(t *testing.T) {
	t.Parallel()

	want := "| sign.Standard/v1/1024B | 2.35 µs | 2104 | 14 |\n"
	if got := describePackages(output); !strings.Contains(got, want) {
		t.Errorf("describePackages(...) = %s; want %q in it", got, want)
	}
}

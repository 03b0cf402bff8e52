// Package work has hostile payloads of events: cheap in bytes, and dear for whoever decodes them
// or computes with their values. Filters, transformations and schemas are held to a few times the
// work for small integers of the same size.
package work

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Most is how much more work a hostile payload may take than the usual one of its size.
const Most = 3

// Row is a payload.
type Row struct {
	Name string
	Text []byte
}

// Usual is an object with an array of small integers.
func Usual(size int) []byte { return list(size, "1,") }

// Hostile returns the hostile payloads: objects of about the size.
func Hostile(size int) []Row {
	rows := []Row{
		{"keys", object(size, `"%07d":1,`)},
		{"short keys", object(size, `"%d":1,`)},
		{"keys of escapes", object(size, `"\u0041\u0041%d":1,`)},
		{"keys of the same beginning", object(size, `"`+strings.Repeat("k", 200)+`%d":1,`)},
		{"a key again and again", []byte(`{` + fill(size-10, `"a":1,`) + `"a":1}`)},
		{"forms of lists", forms(size)},
		{"depth", nested(size, "[", "]")},
		{"depth of objects", nested(size, `{"a":`, "}")},
		{"one number", []byte(`{"a":[` + fill(size-10, "9") + `]}`)},
		{"one fraction", []byte(`{"a":[0.` + fill(size-12, "1") + `]}`)},
	}
	for name, value := range map[string]string{
		"numbers beyond the range":  "9e308,",
		"numbers below the range":   "1e-400,",
		"numbers near zero":         "5e-324,",
		"numbers between two":       "9007199254740993.0,",
		"numbers of an exact half":  "2.225073858513201136057e-308,",
		"numbers of 20 digits":      "18446744073709551616,",
		"numbers of 40 digits":      "1.797693134862315807937289714053000000000e308,",
		"numbers of huge exponents": "1e999999,",
		"fractions":                 "0.1,",
		"texts":                     `"",`,
		"escapes":                   `"\u0041",`,
		"surrogates":                `"\ud83d\ude00",`,
		"half surrogates":           `"\ud83d",`,
		"line breaks":               `"\n",`,
		"separators of lines":       "\"\u2028\",",
		"lists":                     "[],",
		"objects":                   "{},",
		"small objects":             `{"a":1},`,
		"true":                      "true,",
	} {
		rows = append(rows, Row{name, list(size, value)})
	}
	return rows
}

// Parts returns the format n times, separated by commas, with the number of each in place of $.
func Parts(n int, format string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.ReplaceAll(format, "$", strconv.Itoa(i))
	}
	return strings.Join(all, ",")
}

func list(size int, value string) []byte {
	return []byte(`{"a":[` + strings.TrimSuffix(fill(size-10, value), ",") + `]}`)
}

func fill(size int, s string) string { return strings.Repeat(s, size/len(s)) }

func object(size int, format string) []byte {
	var b strings.Builder
	b.WriteString(`{"a":[{`)
	for i := 0; b.Len() < size-len(format)-15; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return []byte(strings.TrimSuffix(b.String(), ",") + `}]}`)
}

// Forms returns the forms of so many lists in each other and beside each other. A hash of their
// brackets alone is the same for all.
func Forms(lists int) []string {
	if lists == 0 {
		return []string{""}
	}
	var all []string
	for inside := range lists {
		for _, a := range Forms(inside) {
			for _, b := range Forms(lists - 1 - inside) {
				all = append(all, strings.TrimSuffix("["+a+"],"+b, ","))
			}
		}
	}
	return all
}

// forms has different lists of as many brackets, each behind a number.
func forms(size int) []byte {
	var b strings.Builder
	b.WriteString(`{"a":[`)
	for _, form := range Forms(9) {
		if b.Len()+len(form)+20 > size {
			break
		}
		b.WriteString("[1e99," + form + "],")
	}
	return []byte(strings.TrimSuffix(b.String(), ",") + `]}`)
}

// nested has values as deep as decoders read them.
func nested(size int, begin, end string) []byte {
	const deepest = 9_900
	depth := min(deepest, (size-20)/(len(begin)+len(end)))
	value := strings.Repeat(begin, depth) + "1" + strings.Repeat(end, depth) + ","
	return list(size, value)
}

// Heap returns how many bytes of memory a value takes, by so many values of build. No other test may
// run meanwhile.
func Heap(times int, build func() any) int {
	all := make([]any, times)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range all {
		all[i] = build()
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(all)
	return (int(after.HeapAlloc) - int(before.HeapAlloc)) / times //nolint:gosec // no heap is near 2^63 bytes
}

// Ratio returns the ratio of two times: each the shortest of some rounds, in turns, so that a
// disturbance meets both.
func Ratio(one, other func()) float64 {
	shortest := func(old time.Duration, do func()) time.Duration {
		runtime.GC()
		start := time.Now() //nolint:forbidigo // measures
		do()
		took := time.Since(start) //nolint:forbidigo // as above
		if old == 0 {
			return took
		}
		return min(old, took)
	}
	var a, b time.Duration
	for range 5 {
		a, b = shortest(a, one), shortest(b, other)
	}
	return float64(a) / float64(b)
}

// Report reports and returns the greatest of n ratios.
func Report(b *testing.B, n int, ratio func(i int) (name string, ratio float64)) (worst float64) {
	b.Helper()

	var of string
	for b.Loop() {
		worst = 0
		for i := range n {
			if name, r := ratio(i); r > worst {
				worst, of = r, name
			}
		}
	}
	b.ReportMetric(worst, "ratio")
	b.Logf("the worst: %s", of)
	return worst
}

// Benchmark reports the greatest ratio of the time for a hostile payload to that for the usual one of
// its size.
func Benchmark(b *testing.B, size int, do func(payload []byte)) {
	b.Helper()

	rows := Hostile(size)
	Report(b, len(rows), func(i int) (string, float64) {
		usual := Usual(len(rows[i].Text))
		return rows[i].Name, Ratio(func() { do(rows[i].Text) }, func() { do(usual) })
	})
}

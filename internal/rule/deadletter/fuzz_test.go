package deadletter_test

import (
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/deadletter"
)

// FuzzAnalyzer makes one dead letter of every eight bytes. The groups of an endpoint must have all of its
// dead letters and attempts, every group must have a suggestion, and its pattern must fit the
// times.
func FuzzAnalyzer(f *testing.F) {
	f.Add([]byte{}, int64(0))
	f.Add([]byte("AAAAAAAAAAAAAAABAAAAAAACAAAAAAADAAAAAAAE"), int64(1_772_000_000))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 255, 255, 255, 255, 255, 255, 255, 255}, int64(-1<<63))
	f.Add([]byte{0, 12, 200, 4, 1, 9, 255, 255}, int64(1<<63-1))
	reasons := []hook.Reason{hook.ReasonRejected, hook.ReasonGone, hook.ReasonExhausted, hook.ReasonExpired, hook.ReasonNone}

	f.Fuzz(func(t *testing.T, data []byte, start int64) {
		var a deadletter.Analyzer
		counts, attempts := map[hook.EndpointID]int{}, map[hook.EndpointID]int{}
		for ; len(data) >= 8; data = data[8:] {
			l := letter{
				Endpoint: []hook.EndpointID{shop, billing, crm}[data[0]%3],
				Class:    hook.Class(data[1] % 16),
				Status:   400 + int(data[2]),
				Reason:   reasons[int(data[3])%len(reasons)],
				Error:    strings.Repeat("x", int(data[4])),
				Attempts: int(data[5]),
				DiedAt:   time.Unix(start, 0).Add(time.Duration(int(data[6])<<8+int(data[7])) * time.Minute),
			}
			a.Add(l.delivery())
			counts[l.Endpoint]++
			attempts[l.Endpoint] += l.Attempts
		}
		for i, g := range a.Groups() {
			counts[g.Endpoint] -= g.Count
			attempts[g.Endpoint] -= int(g.MeanAttempts*float64(g.Count) + 0.5)
			if g.Count < 1 || g.LastAt.Before(g.FirstAt) || g.MeanAttempts < 0 || g.MeanAttempts > 255 {
				t.Errorf("group %d = %+v is not possible", i, g)
			}
			if g.Pattern == "" || g.Suggestion == "" {
				t.Errorf("group %d has pattern %s and suggestion %q; want a pattern and a suggestion", i, g.Pattern, g.Suggestion)
			}
			if g.Pattern == deadletter.PatternOutage && g.Count < 5 && g.LastAt.Sub(g.FirstAt) >= time.Hour {
				t.Errorf("group %d is an outage of %d deaths, from %v to %v; want at least 5, or less than an hour", i, g.Count, g.FirstAt, g.LastAt)
			}
			if g.LastAt.Sub(g.FirstAt) < time.Hour && g.Class == hook.ClassTimeout && g.Pattern != deadletter.PatternOutage {
				t.Errorf("group %d is %s, with all deaths by timeout from %v to %v; want an outage", i, g.Pattern, g.FirstAt, g.LastAt)
			}
		}
		for endpoint := range counts {
			if counts[endpoint] != 0 || attempts[endpoint] != 0 {
				t.Errorf("%d dead letters and %d attempts of %s are in no group, or, if negative, in several", counts[endpoint], attempts[endpoint], endpoint)
			}
		}
	})
}

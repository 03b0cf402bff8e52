package release

import (
	"iter"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/isolation"
)

// group is the tokens that are due in the same second.
type group struct {
	at     time.Time
	tokens []hook.Token
}

// bySecond groups the tokens by their time, rounded up to whole seconds from now, the unit of
// the queue. The claims are in the order of their times.
func bySecond(all []isolation.Claim, now time.Time) iter.Seq[group] {
	at := func(s isolation.Claim) time.Time {
		return now.Add((max(0, s.At.Sub(now)) + time.Second - 1).Truncate(time.Second))
	}
	return func(yield func(group) bool) {
		for len(all) > 0 {
			g := group{at: at(all[0])}
			for len(all) > 0 && at(all[0]).Equal(g.at) {
				g.tokens = append(g.tokens, all[0].Token)
				all = all[1:]
			}
			if !yield(g) {
				return
			}
		}
	}
}

package release

import (
	"iter"
	"time"

	"surehook/internal/hook"
)

// group is tokens for the same second.
type group struct {
	at     time.Time
	tokens []hook.Token
}

// bySecond groups the tokens by the second of their time: the unit of the queue. The
// times are in order.
func bySecond(all []sending) iter.Seq[group] {
	return func(yield func(group) bool) {
		for len(all) > 0 {
			g := group{at: all[0].at}
			for len(all) > 0 && all[0].at.Sub(g.at) < time.Second {
				g.tokens = append(g.tokens, all[0].token)
				all = all[1:]
			}
			if !yield(g) {
				return
			}
		}
	}
}

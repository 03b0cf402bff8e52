package release

import (
	"iter"
	"time"

	"surehook/internal/hook"
)

// group is tokens with the same delay.
type group struct {
	delay  time.Duration
	tokens []hook.Token
}

// byDelay groups the tokens by delay in whole seconds, the unit of the queue.
func byDelay(all []sending, now time.Time) iter.Seq[group] {
	return func(yield func(group) bool) {
		for len(all) > 0 {
			g := group{delay: secondsUntil(all[0].at, now)}
			var rest []sending
			for _, s := range all {
				if secondsUntil(s.at, now) == g.delay {
					g.tokens = append(g.tokens, s.token)
				} else {
					rest = append(rest, s)
				}
			}
			if !yield(g) {
				return
			}
			all = rest
		}
	}
}

func secondsUntil(at, now time.Time) time.Duration {
	return (max(0, at.Sub(now)) + time.Second - 1).Truncate(time.Second)
}

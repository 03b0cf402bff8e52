package isolation_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/rule/admission"
)

// One answer in 200 is late, at 180 events a second. Batches have only one or two attempts, so
// each late attempt is half of its batch. The endpoint must stay fast, and become slow at once
// when all answers are late: long before the first of these answers, which takes 2 s. That is a second,
// 60 ms until the fifth attempt, and at most 100 ms for five writes that conflict.
func TestFewLateAnswers(t *testing.T) {
	t.Parallel()

	const each, proven, turn, end = time.Second / 180, 10 * time.Second, 70 * time.Second, 75 * time.Second
	setup{again: true}.run(t, func(l *lab) {
		begin, draw := time.Now(), rand.New(rand.NewPCG(1, 2))
		e := l.endpoint("acme", func(send.Request) (time.Duration, int) {
			switch since := time.Since(begin); {
			case since > turn, since > proven && draw.IntN(200) == 0:
				return 2 * time.Second, 200
			}
			return healthyAfter, 200
		}, nil)
		for at := time.Duration(0); at < end; at += each {
			time.Sleep(time.Until(begin.Add(at)))
			if got := l.record(e).Speed; at > proven && at < turn && got != admission.Fast {
				t.Errorf("with a late answer in 200 the endpoint is %s after %s; want fast", got, at)
				return
			}
			l.post(e, "order.paid")
		}
		if r := l.record(e); r.Speed != admission.Slow || r.SpeedAt.Sub(begin) > turn+1200*time.Millisecond {
			t.Errorf("the endpoint with late answers only is %s since %s; want slow within 1.2 s after %s", r.Speed, r.SpeedAt.Sub(begin), turn)
		}
	})
}

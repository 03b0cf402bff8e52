package review_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/drain"
	"surehook.example/surehook/internal/rule/review"
)

// The reviews of a trouble, each with the flags of the one before: the owner is told once, before the
// first loss, and once again in the next trouble. A review that is repeated because its flags were not
// saved gives the same key.
func TestJudge_warnsOncePerTrouble(t *testing.T) {
	t.Parallel()

	e := active()
	e.MaxAge = 72 * time.Hour // told a day before
	var flags review.Flags
	keys := map[string]int{}
	told := 0
	for _, step := range []struct {
		name   string
		after  time.Duration // of the first step
		atRisk int
		loss   time.Duration // from the step on
		told   bool
	}{
		{name: "nothing at risk", atRisk: 0},
		{name: "at risk, and the loss is far", atRisk: 9, loss: 24*time.Hour + 1},
		{name: "a day before", after: time.Hour, atRisk: 9, loss: 24 * time.Hour, told: true},
		{name: "the next review", after: time.Hour + review.Every, atRisk: 12, loss: 23 * time.Hour},
		{name: "one without", after: 2 * time.Hour, atRisk: 0},
		{name: "half a day later", after: 14 * time.Hour, atRisk: 20, loss: 11 * time.Hour},
		{name: "the first losses", after: 25 * time.Hour, atRisk: 30, loss: -time.Minute},
		{name: "the losses go on", after: 60 * time.Hour, atRisk: 30, loss: 0, told: true}, // 35 hours without a review
		{name: "recovered", after: 61 * time.Hour, atRisk: 0},
		{name: "at risk again", after: 130 * time.Hour, atRisk: 1, loss: time.Hour, told: true},
	} {
		at := now.Add(step.after)
		f := review.Facts{Endpoint: e, Flags: flags, Circuit: circuit.New(), Backlog: drain.Forecast{AtRisk: step.atRisk}}
		if step.atRisk > 0 {
			f.Backlog.FirstLoss = at.Add(step.loss)
		}
		v, again := review.Judge(f, at), review.Judge(f, at.Add(review.Every))
		if (len(v.Notifications) > 0) != step.told {
			t.Errorf("%s: %+v; want told: %t", step.name, v.Notifications, step.told)
		}
		for _, n := range v.Notifications {
			told++
			keys[n.Key]++
			if n.Type != hook.NotificationAtRisk || n.Figures["at_risk"] != float64(step.atRisk) || !n.FirstLoss.Equal(f.Backlog.FirstLoss) {
				t.Errorf("%s: %+v; want the number and the time", step.name, n)
			}
			if step.atRisk > 0 && (len(again.Notifications) != 1 || again.Notifications[0].Key != n.Key) {
				t.Errorf("%s: repeated with the flags before, %+v; want the key %s", step.name, again.Notifications, n.Key)
			}
		}
		flags = v.Flags
	}
	if len(keys) != told {
		t.Errorf("keys = %v; want another one per trouble", keys)
	}
}

// A short max_age does not make each review a trouble.
func TestJudge_warnsOnceOfShortAges(t *testing.T) {
	t.Parallel()

	e := active()
	e.MaxAge = time.Minute
	var flags review.Flags
	told := 0
	for i := range 12 {
		at := now.Add(time.Duration(i) * review.Every)
		v := review.Judge(review.Facts{Endpoint: e, Flags: flags, Circuit: circuit.New(), Backlog: drain.Forecast{AtRisk: 1, FirstLoss: at}}, at)
		flags, told = v.Flags, told+len(v.Notifications)
	}
	if told != 1 {
		t.Errorf("told %d times in three hours of one trouble; want once", told)
	}
}

func TestJudge_riskReasons(t *testing.T) {
	t.Parallel()

	loss := time.Date(2026, 3, 4, 14, 5, 0, 0, time.UTC)
	tests := []struct {
		name   string
		facts  review.Facts
		atRisk int
		pace   float64
		want   string
	}{
		{
			name: "an open circuit", facts: review.Facts{Endpoint: active(), Circuit: circuit.Circuit{State: circuit.Open}}, atRisk: 218,
			want: "At risk: 218 waiting deliveries are lost if nothing changes, the first on 4 March at 14:05 UTC: the endpoint's circuit is open.",
		},
		{
			name: "paused", facts: review.Facts{Endpoint: with(hook.StatusPaused, time.Second), Circuit: circuit.New()}, atRisk: 1,
			want: "At risk: 1 waiting delivery is lost if nothing changes, on 4 March at 14:05 UTC: the endpoint is paused.",
		},
		{
			name: "a 429", facts: review.Facts{Endpoint: active(), Circuit: circuit.New()}, atRisk: 2,
			want: "At risk: 2 waiting deliveries are lost if nothing changes, the first on 4 March at 14:05 UTC: the endpoint asked to wait.",
		},
		{
			name: "a slow drain", facts: review.Facts{Endpoint: active(), Circuit: circuit.New()}, atRisk: 280_000, pace: 20,
			want: "At risk: 280000 waiting deliveries are lost if nothing changes, the first on 4 March at 14:05 UTC: they leave at 20 per second, and max_age is 3h.",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			tt.facts.Endpoint.MaxAge = 3 * time.Hour
			tt.facts.Backlog = drain.Forecast{PerSecond: tt.pace, AtRisk: tt.atRisk, FirstLoss: loss}
			var got []string
			for _, n := range review.Judge(tt.facts, now).Notifications {
				got = append(got, n.Reason)
			}
			if diff := cmp.Diff([]string{tt.want}, got); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}

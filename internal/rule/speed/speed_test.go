package speed_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"surehook/internal/rule/speed"
)

func TestScore(t *testing.T) {
	t.Parallel()

	const quick, late = speed.LateAfter - 1, speed.LateAfter
	answers := func(n int, took time.Duration) []time.Duration {
		all := make([]time.Duration, n)
		for i := range all {
			all[i] = took
		}
		return all
	}
	tests := []struct {
		name string
		took []time.Duration
		want bool
	}{
		{name: "no answer proves nothing", want: false},
		{name: "19 answers in time are too few", took: answers(19, quick), want: false},
		{name: "20 answers in time are a proof", took: answers(20, quick), want: true},
		{name: "a late answer among 20 takes the proof back", took: append(answers(20, quick), late), want: false},
		{name: "19 more answers in time make up for one late answer", took: append(append(answers(20, quick), late), answers(19, quick)...), want: true},
		{name: "an answer of a second is late", took: answers(40, late), want: false},
		{name: "no number of late answers takes more than 115 answers to forget", took: append(answers(1000, late), answers(115, quick)...), want: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			var score speed.Score
			for _, took := range tt.took {
				score = score.Add(took)
			}
			if got := score.Proven(); got != tt.want {
				t.Errorf("Proven() after %d answers, score %d = %t; want %t", len(tt.took), score, got, tt.want)
			}
		})
	}
}

// TestScore_FollowsThe95thPercentile shares answers of a second out at random.
func TestScore_FollowsThe95thPercentile(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		late        float64
		least, most float64 // share of the time with a proof
	}{{0.01, 0.5, 1}, {0.15, 0, 0.12}, {0.3, 0, 0.01}} {
		random := rand.New(rand.NewPCG(1, 2))
		var score speed.Score
		proven := 0
		const n = 100_000
		for range n {
			took := time.Millisecond
			if random.Float64() < tt.late {
				took = 2 * speed.LateAfter
			}
			if score = score.Add(took); score.Proven() {
				proven++
			}
		}
		if share := float64(proven) / n; share < tt.least || share > tt.most {
			t.Errorf("with %v late answers, the endpoint is proven %.3f of the time; want %v to %v", tt.late, share, tt.least, tt.most)
		}
	}
}

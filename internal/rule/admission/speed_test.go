package admission_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"surehook.example/surehook/internal/rule/admission"
)

func TestScore(t *testing.T) {
	t.Parallel()

	const quick, late = admission.LateAfter - 1, admission.LateAfter
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

			var score admission.Score
			for _, took := range tt.took {
				score = score.Add(took)
			}
			if got := score.Proven(0); got != tt.want {
				t.Errorf("Proven() after %d answers, score %d = %t; want %t", len(tt.took), score, got, tt.want)
			}
		})
	}
}

// TestScore_FollowsThe95thPercentile mixes in answers of a second at random.
func TestScore_FollowsThe95thPercentile(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		late        float64
		least, most float64 // share of the time with a proof
	}{{0.01, 0.5, 1}, {0.15, 0, 0.12}, {0.3, 0, 0.01}} {
		random := rand.New(rand.NewPCG(1, 2))
		var score admission.Score
		proven := 0
		const n = 100_000
		for range n {
			took := time.Millisecond
			if random.Float64() < tt.late {
				took = 2 * admission.LateAfter
			}
			if score = score.Add(took); score.Proven(0) {
				proven++
			}
		}
		if share := float64(proven) / n; share < tt.least || share > tt.most {
			t.Errorf("with %v late answers, the endpoint is proven %.3f of the time; want %v to %v", tt.late, share, tt.least, tt.most)
		}
	}
}

func TestCredit(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name            string
		inTime          int
		late, left, two int // left of late attempts, and of as many again
	}{
		{name: "nothing seen", late: 1, left: 1, two: 1},
		{name: "19 answers in time are too few", inTime: 19, late: 1, left: 1, two: 1},
		{name: "20 answers in time forgive one", inTime: 20, late: 1, left: 0, two: 1},
		{name: "60 answers in time forgive three", inTime: 60, late: 3, left: 0, two: 3},
		{name: "more answers forgive no more", inTime: 10_000, late: 4, left: 1, two: 4},
		{name: "an endpoint that hangs with a whole batch", inTime: 10_000, late: 10, left: 7, two: 10},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			credit, left := admission.Credit(0).Earn(tt.inTime).Forgive(tt.late)
			if _, two := credit.Forgive(tt.late); left != tt.left || two != tt.two {
				t.Errorf("%d late attempts leave %d, and as many again %d; want %d and %d", tt.late, left, two, tt.left, tt.two)
			}
		})
	}
}

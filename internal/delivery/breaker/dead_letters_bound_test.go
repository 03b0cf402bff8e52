package breaker_test

import (
	"testing"
	"time"
)

// The number of letters that a run reads is bounded by what it removes: it does not read
// thousands of open dead letters every 15 minutes.
func TestReconcileDeadLetters_ReadsInProportionToWhatItRemoves(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name     string
		hour     int
		letters  int
		needless int // at the end of the queue
		every    int // one needless letter in so many; 0: none
		least    int // letters read at least: workers finish what they received
		most     int
		removed  int
	}{
		{name: "open letters alone", hour: 12, letters: 3000, needless: 0, every: 0, least: 200, most: 280, removed: 0},
		{name: "few letters are read whole", hour: 12, letters: 150, needless: 1, every: 0, least: 150, most: 150, removed: 1},
		{name: "a share of needless letters goes at once", hour: 12, letters: 3000, needless: 0, every: 40, least: 3000, most: 3000, removed: 75},
		{name: "a job replayed all", hour: 12, letters: 3000, needless: 0, every: 1, least: 3000, most: 3000, removed: 3000},
		{name: "needless letters behind many open ones wait", hour: 12, letters: 3000, needless: 10, every: 0, least: 200, most: 280, removed: 0},
		{name: "until the night", hour: 0, letters: 3000, needless: 10, every: 0, least: 3000, most: 3000, removed: 10},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.Clock.Until(w.Clock.Now().Truncate(24 * time.Hour).Add(24*time.Hour + time.Duration(tt.hour)*time.Hour))
			for i := range tt.letters {
				state := "dead"
				if i >= tt.letters-tt.needless || tt.every > 0 && i%tt.every == 0 {
					state = "discarded"
				}
				w.sendLetters(w.generations(state)[0], 1, 0)
			}
			w.reconcile()
			if got := w.reconciled(); got[0] < tt.least || got[0] > tt.most || got[1] != tt.removed {
				t.Errorf("%d letters read, %d removed; want %d to %d, %d", got[0], got[1], tt.least, tt.most, tt.removed)
			}
		})
	}
}

package stats

import "time"

// HoldFor is the longest time between two writes of a busy endpoint's counts by one process, as
// long as the process runs.
const HoldFor = 10 * time.Second

// heldShare bounds the held successes: 1/heldShare of the successes in the window. So
// n processes show at least 1/(1 + n/heldShare) of the successes to the circuit. An
// endpoint with fewer successes in the window than heldShare is quiet: every success
// is written at once.
const heldShare = 100

// Unwritten holds the successes of one endpoint that one process has not written yet. The
// zero value holds nothing.
type Unwritten struct {
	Counts

	At        time.Time // of the last held success
	WrittenAt time.Time // of the last write
	Window    int       // successes in the window of the circuit at the last write
}

// Hold adds the counts, or returns false and changes nothing if they must be written now: for a
// failure, a 429, a death or any other result than a success, for a quiet endpoint, HoldFor after the
// last write, when as many successes are held as allowed, and in another hour.
func (h *Unwritten) Hold(add *Counts, now time.Time) bool {
	success := add.OK > 0 && add.Failed+add.Unsuccessful() == 0 && add.OK == add.Delivered && add.Dead == 0
	if !success || h.Overdue(now) || !h.SameHour(now) || (h.OK+add.OK)*heldShare > h.Window {
		return false
	}
	h.Add(add)
	h.At = now
	return true
}

// Overdue reports whether the last write was HoldFor ago or earlier. The window is then unknown,
// so an overdue value without counts is useless.
func (h *Unwritten) Overdue(now time.Time) bool { return now.Sub(h.WrittenAt) >= HoldFor }

// SameHour reports whether now is in the clock hour of the last write. Each hour has
// counts of its own.
func (h *Unwritten) SameHour(now time.Time) bool {
	return h.WrittenAt.Truncate(time.Hour).Equal(now.Truncate(time.Hour))
}

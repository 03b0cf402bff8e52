package memory

import (
	"time"

	"surehook/internal/delivery/replay"
	"surehook/internal/rule/circuit"
)

// Expire removes what was to be kept until now, as a table with a time to live
// does some day: an event with its deliveries and attempts when the last of
// them is, jobs with what they counted, and counts that no window has any more.
// What has no time of removal stays. It costs time for what it removes, and for
// the jobs and the minutes that there are: a simulation calls it now and then.
func (s *Store) Expire(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.expire(now)
	for _, t := range s.tenants {
		s.expireJobs(t, now)
	}
	for _, all := range s.counts {
		for start := range all {
			if now.Sub(start) > 2*circuit.Window {
				delete(all, start)
			}
		}
	}
	for _, hours := range s.hours {
		for start := range hours {
			if now.Sub(start) > hoursKept {
				delete(hours, start)
			}
		}
	}
	for start := range s.active {
		if now.Sub(start) > hoursKept {
			delete(s.active, start)
		}
	}
}

// hoursKept is how long the counts of an hour are kept at least.
const hoursKept = 48 * time.Hour

func (s *Store) expireJobs(t *tenant, now time.Time) {
	var over []*replay.Job
	for j := range t.jobs.all() {
		if !j.ExpiresAt.IsZero() && !j.ExpiresAt.After(now) {
			over = append(over, j)
		}
	}
	for _, j := range over {
		t.jobs.remove(j)
		delete(s.tallies, j.ID)
	}
}

// Size returns how many events, deliveries and attempts there are.
func (s *Store) Size() (events, deliveries, attempts int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, story := range s.stories {
		if story.event != nil {
			events++
		}
		attempts += len(story.attempts)
	}
	return events, len(s.deliveries), attempts
}

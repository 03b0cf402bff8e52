package isolation_test

import (
	"fmt"
	"testing"
	"time"
)

// row is a case with its bound.
type row struct {
	name  string
	text  string // the case, as in the document
	bound string
	run   func(t *testing.T, s setup) (measured string) // fails when the bound does not hold
	clock bool                                          // also by the clock of the machine
	long  bool                                          // seconds of work: not with -short
}

// leastShare is the least share of the best rate of an endpoint with waiting deliveries.
const leastShare = 0.78

func rows() []row {
	return []row{
		{"slow neighbour", "19 new endpoints beside one that answers after 9 s and gets a quarter of 50 events a second", "p99 of the 19 at most 3 times as alone", slowNeighbour, true, false},
		{"turns slow", "the same endpoint answers in time at first, and after 9 s from one moment on", "the events of the 19 arrive within 1 s, and the slow one has at most 30 requests at once within a minute", turnsSlow, true, false},
		{"slow tenant", "3,000 deliveries at once to 500 endpoints of a tenant that answer after 25 s", "each event of another tenant arrives within 2 s", slowTenant, true, false},
		{"slow alone", "the same tenant alone", "uses 90 % of the slots", slowAlone, false, false},
		{"quick and limited", "`max_in_flight` 5, answers after 1 ms, 100 events at once", "all within 3 s, at most 5 at once", quickLimited, true, false},
		{"limited backlog", "`max_in_flight` 5, answers after 200 ms, 10,000 waiting", fmt.Sprintf("at least %.0f %% of 25/s, at most 5 at once, at most 4 writes per delivery", 100*leastShare), limitedBacklog, true, false},
		{"rate raised", "`rate_per_second` from 0.05 to 1,000 with 2,000 waiting", "the next event within 5 s, all within a minute", rateRaised, false, true},
		{"rate backlog", "`rate_per_second` 50 and then 1,000, with a backlog", "at least 90 % of 50/s, then at least 50/s, never faster than the rate", rateBacklog, false, true},
		{"rate limited", "takes 10 a second and answers 429 with a Retry-After of 10 s above, gets 5 a second, and for 6 s takes none", "all arrive, 95 % within 15 s, with at most 20 refused", rateLimited, false, false},
		{"poison", "5 events of a type answered 500 always, then 50 good events", "the good ones within one cooldown and a minute", poison, false, false},
		{"poison cost", "`max_in_flight` 5, answers after 200 ms, 1 waiting event in 20 fails", "a failed attempt costs at most 1.5 good deliveries", poisonCost, false, true},
		{"poison retries", "the same with the standard policy, 1 waiting event in 20, in 10 or in 5 fails", "the circuit stays closed, and a failed attempt costs at most 1.5 good deliveries", poisonRetries, false, true},
		{"retry behind new", "new events wait all the time, and a delivery fails once", "the second attempt a minute after its time, plus 5 s", retryBehindNew, false, false},
		{"hangs after the probe", "an endpoint that answers its probe and then hangs, 1,000 waiting", "one request at a time, at most 10 in 10 minutes", hangs, false, false},
		{"random failures", "0.5 % of the answers are 500, 500 events a second", "the circuit never opens", randomFailures, false, false},
		{"half healthy", "30 % of the answers are 502, at 20 and at 200 events a second, retries after 1, 2, 4 and 8 s", "the circuit never opens, and 95 % arrive within 4 s", halfHealthy, false, true},
		{"late third", "30 % of the answers take 9.5 s, for ten minutes, at 1 and at 20 events a second", "95 % delivered, at most 100 requests at once; at 1 a second p95 at most 1.3 times 9.5 s", lateThird, false, false},
		{"hanging third", "30 % of the attempts hang until the timeout of 10 s", "95 % delivered, at most 100 requests at once; at 1 a second p95 at most 1.3 times 23 s, which two time-outs and their retries take", hangingThird, false, true},
		{"all late", "all answers take 9.5 s", "at 1 a second p95 at most 1.3 times 9.5 s", allLate, false, false},
		{"mass outage", "5,000 endpoints down at once", "each is probed within two minutes", massOutage, false, false},
		{"mass drain", "5,000 endpoints with 100 parked deliveries each answer again, all at once", fmt.Sprintf("all within 3 minutes of the probes, and at least %d/s", leastDrain), massDrain, false, true},
		{"fast", "a fast endpoint without limits, per delivery", "2 writes, no message", fastCost, false, false},
		{"blocked key", "10,000 keys of an ordered endpoint, one of them blocked, which gets a tenth of the events", "p99 of the others at most twice as without", blockedKey, false, true},
		{"waiting key", "an ordering key with 1,000 waiting events", "p99 of the other keys and of another endpoint at most twice as without", waitingKey, false, true},
		{"unproven", "a new endpoint, per delivery", "6 writes, 1 message", unprovenCost, false, false},
	}
}

// TestRows runs the rows in virtual time; with -short without the long ones.
func TestRows(t *testing.T) {
	t.Parallel()

	for _, r := range rows() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()

			if r.long && testing.Short() {
				t.Skip("a long row")
			}
			began := time.Now()
			measured := r.run(t, setup{})
			t.Logf("%s: %s (%.1f s by the clock)", r.text, measured, time.Since(began).Seconds())
		})
	}
}

// millis returns the time in milliseconds, with two digits at least.
func millis(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.1f ms", d.Seconds()*1000)
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

package reliability_test

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/reliability.md, of ten days")

// The documented run, and the short run of the tests.
const (
	wholeDays, shortDays = 10, 3
	shortShare           = 2 // the run of the tests has every second endpoint
	seed                 = 20261121
	every                = 30 * time.Minute // mean time between two events of an endpoint
)

// figures is the result of one class under one policy.
type figures struct{ posted, delivered, first, requests, wasted int }

func (f figures) final() float64 { return float64(f.delivered) / float64(f.posted) }

// TestReliability runs Surehook's default and the reference policy on the same
// outages and the same events; not with -short.
func TestReliability(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("days of outages")
	}
	days, share, fewer, tolerance := shortDays, shortShare, 3, 0.002 // few endpoints: the direction is certain, the figures are not
	if *update {
		days, share, fewer, tolerance = wholeDays, 1, 4, 0
	}
	span := time.Duration(days) * 24 * time.Hour
	all := classes()
	rng := rand.New(rand.NewPCG(seed, uint64(days)))
	w := newTrial(t)
	ours, theirs := make([]figures, len(all)), make([]figures, len(all))
	for i, c := range all {
		mean := meanOutage(c)
		for n := range c.endpoints / share {
			w.add(t, fmt.Sprintf("%s-%d", c.name, n), i, newTimeline(rng, c.first, mean, span+10*24*time.Hour))
		}
	}
	w.run(t, rng, every, span, func(s *site, at time.Duration) {
		requests, delivered := reference(s.outages, at)
		f := &theirs[s.class]
		f.posted++
		f.requests += requests
		f.wasted += requests
		if delivered {
			f.delivered++
			f.wasted--
		}
		if !s.outages.down(at) {
			f.first++
		}
	})
	for _, s := range w.order {
		f := &ours[s.class]
		f.posted += s.posted
		f.delivered += s.delivered
		f.requests += s.requests
		f.wasted += s.wasted
		if s.delivered+s.dead != s.posted {
			t.Errorf("endpoint %s: %d posted, %d delivered, %d dead; want all of them ended", s.endpoint.ID, s.posted, s.delivered, s.dead)
		}
	}
	for i, c := range all {
		t.Logf("%-12s first %.3f; reference: final %.4f, %d wasted of %d; Surehook: final %.4f, %d wasted of %d (%.1f times fewer); outages of %s",
			c.name, float64(theirs[i].first)/float64(theirs[i].posted), theirs[i].final(), theirs[i].wasted, theirs[i].requests,
			ours[i].final(), ours[i].wasted, ours[i].requests, float64(theirs[i].wasted)/float64(ours[i].wasted), meanOutage(c).Round(time.Minute))
		if ours[i].final()+tolerance <= theirs[i].final() {
			t.Errorf("%s: final success %.4f; want more than the reference's %.4f", c.name, ours[i].final(), theirs[i].final())
		}
		if fewer*ours[i].wasted > theirs[i].wasted {
			t.Errorf("%s: %d requests to endpoints that were down; want %d times fewer than the reference's %d", c.name, ours[i].wasted, fewer, theirs[i].wasted)
		}
	}
	if *update {
		if err := os.WriteFile("../../docs/reliability.md", report(all, ours, theirs, days, measureTroubles(t)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReport_document checks that the text of docs/reliability.md, without its
// figures, is the text of the code.
func TestReport_document(t *testing.T) {
	t.Parallel()

	committed, err := os.ReadFile("../../docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	all := classes()
	want := report(all, make([]figures, len(all)), make([]figures, len(all)), wholeDays, nil)
	if diff := cmp.Diff(text(want), text(committed)); diff != "" {
		t.Errorf("docs/reliability.md is not as `make reliability` writes it (-code +document):\n%s", diff)
	}
}

// text returns the document without the rows of its tables.
func text(document []byte) string {
	return regexp.MustCompile(`(?m)^\| .* \| [\d.]+ .*\n`).ReplaceAllString(string(document), "")
}

// TestCalibration checks the outages against the known rates of each class.
func TestCalibration(t *testing.T) {
	t.Parallel()

	for _, c := range classes() {
		rng := rand.New(rand.NewPCG(seed, 1))
		mean := meanOutage(c)
		var posted, first, final int
		for range 4000 {
			outages := newTimeline(rng, c.first, mean, 40*24*time.Hour)
			for hour := range 24 * 7 {
				at := time.Duration(hour) * 4 * time.Hour
				_, delivered := reference(outages, at)
				posted++
				if !outages.down(at) {
					first++
				}
				if delivered {
					final++
				}
			}
		}
		gotFirst, gotFinal := float64(first)/float64(posted), float64(final)/float64(posted)
		if math.Abs(gotFirst-c.first) > 0.01 || math.Abs(gotFinal-c.final) > 0.01 {
			t.Errorf("%s with outages of %s: first %.4f, final %.4f; want %.4f and %.4f", c.name, mean, gotFirst, gotFinal, c.first, c.final)
		}
	}
}

// report returns docs/reliability.md.
func report(all []class, ours, theirs []figures, days int, rows []line) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Reliability

Surehook compared with a plain retry schedule: how many events arrive despite outages, how many requests failing endpoints get, and when a circuit opens.
`+"`make reliability`"+` writes the page from %d simulated days (seed %d); CI simulates %d days and half of the endpoints.

## Outages

%d endpoints get an event every %d minutes on average. Outages are random; their mean per class follows from known success rates. The low rate of events favours the plain schedule, because a probe costs the same for any number of parked deliveries.

The reference makes 8 attempts, after 0, 30 s, 2 m, 10 m, 30 m, 1 h, 4 h and 8 h, without a circuit. Surehook runs with its defaults: the preset `+"`standard`"+` and a [circuit](circuit.md). Endpoints that Surehook disables stay disabled, and their later deliveries count as dead, although they would arrive if the owner enabled the endpoint within three days.

`, days, seed, shortDays, endpointsOf(all), int(every.Minutes()))
	fmt.Fprintln(&b, "| class | endpoints | mean outage | first attempts | final, reference | final, Surehook | requests while down, reference | requests while down, Surehook | fewer |")
	fmt.Fprintln(&b, "|---|---|---|---|---|---|---|---|---|")
	for i, c := range all {
		fmt.Fprintf(&b, "| %s | %d | %.1f h | %.1f %% | %.2f %% | %.2f %% | %d | %d | %.0f x |\n",
			c.name, c.endpoints, meanOutage(c).Hours(), 100*float64(theirs[i].first)/float64(theirs[i].posted),
			100*theirs[i].final(), 100*ours[i].final(), theirs[i].wasted, ours[i].wasted, float64(theirs[i].wasted)/float64(ours[i].wasted))
	}
	fmt.Fprint(&b, `
Deliveries that did not arrive could not be delivered for three days, used up their attempts in repeated outages, or belonged to a disabled endpoint. A replay sends them after the outage.
`)
	writeTroubles(&b, rows)
	return b.Bytes()
}

func endpointsOf(all []class) int {
	n := 0
	for _, c := range all {
		n += c.endpoints
	}
	return n
}

package reliability_test

import (
	"math/rand/v2"
	"slices"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
)

// model is one endpoint with its circuit: the rule alone, without stores and queues. All
// answers take no time, so attempts come one after another. Attempts in flight together
// open a circuit less often, because they count once.
type model struct {
	settings circuit.Settings
	schedule []time.Duration // delays after each failure
	on       bool            // with a circuit
	fails    func(at time.Duration) bool

	circuit circuit.Circuit
	counts  [window]circuit.Counts // by minute, in turn
	minute  time.Duration          // the newest of them

	retries [][]waiting // by attempts made, each in the order of time
	parked  []waiting
	probe   time.Duration // of an open circuit with parked deliveries; never: none
	drain   time.Duration // of the next parked delivery after a closing; never: none

	openedAt time.Duration
	span     time.Duration
	result
}

// result is what became of the deliveries.
type result struct {
	took     []time.Duration // from the event to its delivery
	posted   int
	requests int           // within the span
	open     time.Duration // within the span: the circuit was open
}

// waiting is a delivery between two attempts.
type waiting struct {
	created, due time.Duration
	attempts     int
}

const (
	window = int(circuit.Window / time.Minute)
	never  = time.Duration(1<<63 - 1)
	// answered is the time between two attempts in one place of the release after a closing.
	answered = 100 * time.Millisecond
	// most is the number of places of a release at most.
	most = 25
	// grace is the time after the last event in which deliveries still count as delivered.
	grace = 15 * time.Minute
)

func newModel(schedule []time.Duration, on bool, fails func(at time.Duration) bool) *model {
	return &model{
		settings: circuit.Settings{CircuitSettings: hook.CircuitSettings{}.WithDefaults()}, schedule: schedule, on: on, fails: fails,
		circuit: circuit.New(), retries: make([][]waiting, len(schedule)), probe: never, drain: never,
	}
}

// run posts events with the gaps of next until the span is over, and ends with the last delivery.
func (m *model) run(next func() time.Duration, span time.Duration) result {
	m.span = span
	for post := next(); ; {
		at := min(post, m.probe, m.drain)
		queue := -1
		for i, q := range m.retries {
			if len(q) > 0 && q[0].due < at {
				at, queue = q[0].due, i
			}
		}
		switch {
		case at > span+grace:
			return m.end()
		case queue >= 0:
			w := m.retries[queue][0]
			m.retries[queue] = m.retries[queue][1:]
			m.arrive(w, at)
		case at == m.probe:
			m.probe = never
			m.attempt(m.unpark(), at)
		case at == m.drain:
			m.attempt(m.unpark(), at)
			m.planDrain(at)
		default:
			m.posted++
			m.arrive(waiting{created: at}, at)
			if post += next(); post > span {
				post = never
			}
		}
	}
}

// unpark takes the oldest of the parked deliveries with the fewest attempts among the first.
func (m *model) unpark() waiting {
	choice := m.parked[:min(len(m.parked), 15)]
	i := 0
	for j, w := range choice {
		if w.attempts < choice[i].attempts {
			i = j
		}
	}
	w := m.parked[i]
	copy(m.parked[1:i+1], m.parked[:i])
	m.parked = m.parked[1:]
	return w
}

// arrive attempts or parks a delivery.
func (m *model) arrive(w waiting, at time.Duration) {
	recovering := m.drain != never && m.circuit.State == circuit.Closed && m.places() < most
	if m.circuit.State == circuit.Closed && !recovering {
		m.attempt(w, at)
		return
	}
	m.parked = append(m.parked, w)
	if m.circuit.State != circuit.Closed {
		m.probe = max(at, m.circuit.ProbeAt.Sub(start))
	}
}

// places returns the number of places of a release now.
func (m *model) places() int {
	if m.circuit.AtOnce > 0 {
		return min(m.circuit.AtOnce, most)
	}
	return most
}

// planDrain plans the next parked delivery of a release.
func (m *model) planDrain(at time.Duration) {
	m.drain = never
	if m.circuit.State == circuit.Closed && len(m.parked) > 0 {
		m.drain = at + answered/time.Duration(m.places())
	}
}

func (m *model) attempt(w waiting, at time.Duration) {
	failed := m.fails(at)
	if at <= m.span {
		m.requests++
	}
	if m.on {
		m.settle(failed, at)
	}
	switch w.attempts++; {
	case !failed:
		m.took = append(m.took, at-w.created)
	case w.attempts <= len(m.schedule):
		w.due = at + m.schedule[w.attempts-1]
		m.retries[w.attempts-1] = append(m.retries[w.attempts-1], w)
	}
}

// settle gives the result to the circuit, as package gate does.
func (m *model) settle(failed bool, at time.Duration) {
	now := start.Add(at)
	for minute := at.Truncate(time.Minute); m.minute < minute; {
		m.minute += time.Minute
		m.counts[int(m.minute/time.Minute)%window] = circuit.Counts{}
	}
	count := &m.counts[int(m.minute/time.Minute)%window]
	r := circuit.Results{Alive: !failed}
	if failed {
		r.Failed, r.Trailing = 1, 1
		count.Failed++
	} else {
		count.OK++
	}
	before := m.circuit
	if before.State == circuit.Closed {
		m.circuit = before.Settled(r, m.sum(), before, m.settings, now)
	} else {
		probing, _ := before.Probe("probe", now)
		m.circuit = probing.Probed(circuit.ProbeResult{Holder: "probe", Generation: probing.Generation, Alive: r.Alive}, m.settings, now)
	}
	if m.circuit == before {
		return
	}
	m.circuit.Version++
	switch {
	case m.circuit.State == circuit.Closed && before.State != circuit.Closed:
		m.open += max(0, min(at, m.span)-m.openedAt)
		m.planDrain(at)
	case m.circuit.State == circuit.Open:
		m.drain = never
		if before.State == circuit.Closed {
			m.openedAt = at
		}
		if len(m.parked) > 0 {
			m.probe = m.circuit.ProbeAt.Sub(start)
		}
	}
}

func (m *model) sum() circuit.Counts {
	var all circuit.Counts
	for _, c := range m.counts {
		all.OK += c.OK
		all.Failed += c.Failed
	}
	return all
}

// end counts the time open within the span.
func (m *model) end() result {
	if m.circuit.State != circuit.Closed {
		m.open += max(0, m.span-m.openedAt)
	}
	return m.result
}

// percentile returns the time below which the share of the posted events was delivered;
// never: fewer were.
func percentile(took []time.Duration, posted int, share float64) time.Duration {
	n := int(share * float64(posted))
	if n >= len(took) {
		return never
	}
	slices.Sort(took)
	return took[n]
}

// poisson returns the gaps of a Poisson process.
func poisson(rng *rand.Rand, perSecond float64) func() time.Duration {
	return func() time.Duration { return exponential(rng, time.Duration(float64(time.Second)/perSecond)) }
}

// bernoulli returns failures at random.
func bernoulli(rng *rand.Rand, share float64) func(time.Duration) bool {
	return func(time.Duration) bool { return rng.Float64() < share }
}

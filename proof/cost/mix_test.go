package cost_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/stats"
	"surehook.example/surehook/proof/cost"
	"surehook.example/surehook/proof/world"
)

// The realistic mix, in the text of mixText: endpoints by popularity in steady state.
const (
	mixTenants   = 5
	mixEndpoints = 500
	mixRate      = 100 // events per second, with one delivery each
	mixSeconds   = 20
	mixProcesses = 4    // functions deliver at work
	mixFailures  = 0.06 // of the attempts that are alone in their batch: 5 % of all
	mixSlow      = 3 * time.Second
	mixLimit     = 1 // deliveries per second to a limited endpoint
)

// slowRank and limitedRank report whether the endpoint of the rank is slow, or has a rate
// limit: each is one of 100 endpoints.
func slowRank(rank int) bool    { return rank%100 == 99 }
func limitedRank(rank int) bool { return rank%100 == 49 }

// mix is a bundle with the endpoints of the mix.
type mix struct {
	*bundle

	failures float64 // share of the attempts
	random   *rand.Rand
	sums     []float64 // of the weights 1/1, 1/2, and so on
	ranks    map[hook.EndpointID]int
}

func newMix(t *testing.T, failures float64) *mix {
	t.Helper()

	m := &mix{
		bundle: newBundle(t, full, mixProcesses), failures: failures, random: rand.New(rand.NewPCG(1, 2)), ranks: make(map[hook.EndpointID]int),
	}
	sum := 0.0
	for rank := range mixEndpoints {
		sum += 1 / float64(rank+1)
		m.sums = append(m.sums, sum)
	}
	var group sync.WaitGroup
	atOnce := make(chan struct{}, 16)
	for rank := range mixEndpoints {
		e := m.endpointOf(rank)
		m.ranks[e.ID] = rank
		group.Go(func() {
			atOnce <- struct{}{}
			defer func() { <-atOnce }()
			m.create(e, rank)
		})
	}
	group.Wait()
	m.answer = m.answerOf
	return m
}

func tenantOf(rank int) hook.TenantID {
	return hook.TenantID(fmt.Sprintf("tenant-%d", rank%mixTenants))
}

func typeOf(rank int) string { return fmt.Sprintf("order.paid.%03d", rank) }

// rate returns the deliveries per second of the rank.
func (m *mix) rate(rank int) float64 {
	return mixRate / float64(rank+1) / m.sums[len(m.sums)-1]
}

// draw returns a rank by popularity.
func (m *mix) draw() int {
	at := m.random.Float64() * m.sums[len(m.sums)-1]
	for rank, sum := range m.sums {
		if at < sum {
			return rank
		}
	}
	return len(m.sums) - 1
}

func (m *mix) endpointOf(rank int) hook.Endpoint {
	m.t.Helper()

	e, err := world.EndpointWith(m.t.Context(), m.ids.Endpoint(), world.Secret, m.clock())
	if err != nil {
		m.t.Fatal(err)
	}
	e.Tenant, e.EventTypes = tenantOf(rank), []string{typeOf(rank)}
	e.URL = fmt.Sprintf("https://customer-%03d.example.com/orders", rank)
	if e.Secrets[0].Sealed, err = (memory.Vault{}).Seal(m.t.Context(), world.Secret, e.Tenant, e.ID); err != nil {
		m.t.Fatal(err)
	}
	if limitedRank(rank) {
		e.RatePerSecond = mixLimit
	}
	return e
}

// create creates the endpoint with the records of a steady state: its speed, and the
// successes of the last ten minutes at the rate of the rank. One minute holds them all,
// which is the same window for a run of seconds.
func (m *mix) create(e hook.Endpoint, rank int) {
	ctx, now := m.t.Context(), m.clock()
	if err := m.store.CreateEndpoint(ctx, e); err != nil {
		m.t.Error(err)
	}
	record := admission.NewRecord(e.Tenant, e.ID)
	record.Speed, record.SpeedAt, record.SeenAt = admission.Fast, now, now
	if slowRank(rank) {
		record.Speed = admission.Slow
	}
	if err := m.store.SaveCircuit(ctx, record); err != nil {
		m.t.Error(err)
	}
	var counts stats.Counts
	for range int(m.rate(rank) * circuit.Window.Seconds()) {
		counts.Count(stats.Attempt{
			Type: typeOf(rank), Class: hook.ClassDelivered, Number: 1, State: hook.StateDelivered, Age: time.Second, Duration: cost.ReceiverTime,
		})
		counts.OK++
	}
	if _, err := m.store.Count(ctx, e.Tenant, e.ID, &counts, now.Add(-time.Minute)); err != nil {
		m.t.Error(err)
	}
}

// answerOf fails a share of the attempts. Only attempts without another attempt of their
// endpoint in the batch fail, so the order of concurrent attempts changes no figure.
func (m *mix) answerOf(r send.Request) hook.Outcome {
	rank, status := m.ranks[r.Endpoint.ID], 200
	dice := rand.New(rand.NewPCG(uint64(m.batches), uint64(rank)))
	if m.inBatch[r.Endpoint.ID] == 1 && dice.Float64() < m.failures {
		status = 503
	}
	outcome := answers(status)(r)
	if slowRank(rank) {
		outcome.Duration = mixSlow
	}
	return outcome
}

// run posts the events of the seconds in batches of the size, and hands over what is due.
func (m *mix) run(posted, seconds int) {
	m.t.Helper()

	waiting := make([][]string, mixTenants) // types of the next batch
	for range seconds * mixRate {
		rank := m.draw()
		i := rank % mixTenants
		if waiting[i] = append(waiting[i], typeOf(rank)); len(waiting[i]) == posted {
			m.publish(tenantOf(rank), waiting[i]...)
			waiting[i] = nil
		}
		m.pass(time.Second / mixRate)
	}
	for i, types := range waiting { // the rest, so that every event is posted
		if len(types) > 0 {
			m.publish(tenantOf(i), types...)
		}
	}
}

// pass moves the clock, and hands over the messages that were due before. Queue live has
// full batches only: the last messages wait for the next ones.
func (m *mix) pass(d time.Duration) {
	m.t.Helper()

	end := m.clock().Add(d)
	for m.fullBatch() && m.handOver(0) {
		continue
	}
	m.mu.Lock()
	m.now = end
	m.mu.Unlock()
}

// fullBatch reports whether a queue has a full batch of due messages.
func (m *mix) fullBatch() bool {
	m.mu.Lock()
	defer m.mu.Unlock()

	due := make(map[queue]int)
	for _, message := range m.inbox {
		if !message.due.After(m.now) {
			due[message.queue]++
		}
	}
	return due[live] >= full || len(due) > 1 || len(due) == 1 && due[live] == 0
}

// realistic runs the mix, with events posted in batches of the size.
func realistic(t *testing.T, posted int, failures float64) cost.Scenario {
	t.Helper()

	m := newMix(t, failures)
	m.run(posted, 1) // fills the caches
	m.drain(mixRate)
	m.ledger.Reset()
	m.attempts, m.delivered, m.messages = 0, 0, 0
	const deliveries = mixSeconds * mixRate
	m.run(posted, mixSeconds)
	m.drain(deliveries)
	m.wantDelivered(deliveries)
	name := "the mix"
	if failures > 0 {
		name += " with failures"
	}
	if posted == 1 {
		return m.scenario(name, fmt.Sprintf("posted alone; %d attempts of %d deliveries", m.attempts, deliveries), deliveries)
	}
	return m.scenario(name+", batches", fmt.Sprintf("posted in batches of %d; %d attempts of %d deliveries", posted, m.attempts, deliveries), deliveries)
}

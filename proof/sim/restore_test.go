package sim_test

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/memory/table"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/order"
)

// An operator restores the table to a moment, as the runbook says. The queues and
// the schedules stay as they are: they have tasks, checks and letters of later moments, and lack some
// that the records of the moment need. All processes have ended.
//
// What holds afterwards:
//
//   - Every event accepted before the moment ends like any other: each of its deliveries is delivered
//     or dead, and within an hour each delivery that is overdue has a new task. Its receivers may get
//     again what they got since.
//   - Of an event accepted since nothing is sent until its caller posts it again. With its idempotency
//     key it then has its first id.
//   - Circuits, limits and the steps of deliveries hold from the restored records on, and no task, check
//     or lease is left. Tasks of replays since the moment may end in undeliverable.
//   - Not promised: the letter of a delivery that was dead at the moment and redriven since, the end of a
//     death whose replay had just settled, the totals of jobs, notifications, and erasures, which
//     operators repeat.

const (
	restoreLead  = 10 * time.Minute // from the moment to the restore, at most
	restoreTakes = 40 * time.Minute // at most

	forgotten   = "attempts forgotten by a restore"
	inProgress  = "deliveries restored in progress"
	postedAgain = "events posted again after a restore"
)

// afterRestore returns the checks that a restore leaves in force. The others compare with what the
// table had, or count messages, or bound waits by their causes.
func afterRestore() []check {
	return []check{
		checkSetup, checkRestored, checkAccepted, checkUID, checkTargets, checkOrder, checkTenant,
		checkSettled, checkPolicy, checkEarly, checkAge, checkSettings, checkPlace, checkContent, checkUnmade, checkFilter, checkStatuses,
		checkPersist, checkQueue, checkWindow, checkStatus, checkGenerations, checkOpen, checkProbe, checkInFlight, checkRate, checkState,
		checkRecord, checkLease, checkSlot, checkClaim, checkGone, checkRetryAfter, checkClosing, checkOthers, checkBatch, checkOperator,
		checkEnd, checkLost, checkUnseen, checkLeak, checkLetters, checkNumbers, checkTurn,
	}
}

// TestRestore restores the table in seeds of all kinds.
func TestRestore(t *testing.T) {
	t.Parallel()

	seeds := max(32, *seedsFlag/10)
	if testing.Short() {
		seeds = 12
	}
	sum := make(map[string]int)
	for seed := *firstFlag; seed < *firstFlag+seeds; seed++ {
		if apart(seed) {
			continue
		}
		w := simulate(t, options{seed: seed, level: levelOf(t, seed), sweeper: true, restores: true, verbose: seed == *seedFlag})
		if w.broken != "" {
			t.Errorf("seed %d: %s\nprint it: go test -run 'TestRestore$' -v ./proof/sim -args -seed %d -first %d -level %s", seed, w.broken, seed, seed, w.level.name)
		}
		if seed == *seedFlag {
			t.Logf("seed %d:\n%s", seed, strings.Join(w.trace, "\n"))
		}
		for what, n := range w.counts {
			sum[what] += n
		}
	}
	for _, what := range []string{forgotten, inProgress, postedAgain, "tasks by the sweeper"} {
		if t.Logf("%d %s", sum[what], what); sum[what] == 0 {
			t.Errorf("no %s", what)
		}
	}
}

// apart reports whether the seed has an erasure of a tenant, a queue of events or two builds, and so no
// restore: what an operator does about these is not modelled.
func apart(seed uint64) bool {
	return seed%16 == 7 || seed%16 == 12 || seed%8 == 2 || seed%mixedEvery == mixedFrom
}

// backup is the table at a moment.
type backup struct {
	at       time.Time
	items    []table.Item
	accepted map[hook.EventID]bool // by then
}

// planRestore plans the restore.
func (w *simulation) planRestore() {
	if !w.restores {
		return
	}
	w.restoreAhead = true
	at := start.Add(3*time.Minute + w.within(suffering-3*time.Minute))
	w.plan.add(at, func() {
		kept := backup{at: w.now, accepted: maps.Clone(w.accepted)}
		w.store.Table.Each(func(_ table.Key, item table.Item) bool {
			kept.items = append(kept.items, item)
			return true
		})
		w.note("the moment of the restore")
		w.plan.add(w.now.Add(w.within(restoreLead)), func() { w.restore(kept) })
	})
}

// restore ends all processes, and replaces the table while time passes. Then the functions run
// again, callers post the events since the moment again, and the operator tells the breaker what was
// queued before it.
func (w *simulation) restore(kept backup) {
	w.abort()
	w.restoreAhead = false
	w.now = w.now.Add(w.within(restoreTakes))
	w.count("restores of the table")
	w.note("the table is restored to %s", kept.at.Sub(start))
	old := w.store
	w.store = memory.NewStore()
	for _, item := range kept.items {
		if _, err := w.store.Table.PutItem(w.ctx, &dynamodb.PutItemInput{TableName: aws.String(memory.Schema().Name), Item: item}); err != nil {
			w.fail(checkSetup, "restore: %v", err)
		}
	}
	w.store.Wait = old.Wait
	w.store.Table.Now, w.store.Table.Around, w.store.Table.Wrote = old.Table.Now, old.Table.Around, old.Table.Wrote
	w.containers, w.environments, w.changes = nil, nil, nil
	w.restored, w.quietAt, w.redriven = w.now, w.now, w.now
	for _, e := range w.forget(kept.accepted) {
		w.count(postedAgain)
		w.posting++
		c := &client{tenant: e.Tenant, keyed: true, requests: []ingest.Request{{Type: e.Type, Payload: e.Payload, IdempotencyKey: e.IdempotencyKey}}}
		w.plan.add(w.now.Add(w.within(10*time.Minute)), func() { w.post(c) })
	}
	for _, j := range w.startedJobs {
		w.handIn(j.tenant, "cancel job", func(ctx context.Context, p *process) error {
			err := second(p.wiring().Replayer().CancelJob(ctx, j.tenant, j.id))
			if hook.CodeOf(err) == hook.CodeNotFound || hook.CodeOf(err) == hook.CodeConflict {
				return nil
			}
			return err
		})
	}
	var queued []change // all events and replays are of the last hour
	for _, item := range kept.items {
		image, err := attributevalue.MarshalMapJSON(item)
		if err != nil {
			w.fail(checkSetup, "read an item: %v", err)
		}
		queued = append(queued, change{image: image})
	}
	w.arrive(0, queued...)
}

// forget replaces what the checks know by what the restored table has, and returns the accepted
// events that it lacks, if their callers can post them again. It has those accepted before the moment.
func (w *simulation) forget(before map[hook.EventID]bool) (missed []hook.Event) {
	old := w.checker
	w.checker = newChecker()
	w.posting, w.copies, w.events, w.asked, w.named = old.posting, old.copies, old.events, old.asked, old.named
	w.disturbed = w.now
	var keys []table.Key
	w.store.Table.Each(func(k table.Key, _ table.Item) bool {
		keys = append(keys, k)
		return true
	})
	for _, k := range keys {
		w.remember(k, old)
	}
	for id, s := range old.statuses {
		if _, known := w.statuses[id]; !known { // it was deleted before the moment, or made later
			s.deleted = w.now
			w.statuses[id] = s
		}
	}
	for _, e := range old.posted {
		switch _, kept := w.byID[e.ID]; {
		case kept:
		case before[e.ID]:
			w.fail(checkRestored, "event %s was accepted before the moment, and the table does not have it", e.ID)
		case old.accepted[e.ID] && e.IdempotencyKey != "":
			missed = append(missed, e)
		}
	}
	return missed
}

// remember notes a restored item.
func (w *simulation) remember(k table.Key, old checker) {
	kind, _, _ := strings.Cut(k.Sort, "#")
	_, id, _ := strings.Cut(k.Hash, "#")
	var err error
	switch kind {
	case "event":
		var e hook.Event
		if e, err = w.store.Event(w.ctx, hook.EventID(id)); err == nil {
			w.byID[e.ID] = len(w.posted)
			w.posted = append(w.posted, e)
			if old.accepted[e.ID] {
				w.accepted[e.ID] = true
			}
			for endpoint, n := range e.Numbers {
				w.sequenceOf(order.ID{Endpoint: endpoint, Key: e.OrderingKey}).events[n] = e.ID
			}
			if use, used := old.uses[useKey(e.Tenant, e.IdempotencyKey)]; used {
				w.uses[useKey(e.Tenant, e.IdempotencyKey)] = use
			}
		}
	case "endpoint":
		if k.Sort != kind {
			return
		}
		s := old.statuses[hook.EndpointID(id)]
		var e hook.Endpoint
		if e, err = w.store.Endpoint(w.ctx, s.Tenant, s.ID); err == nil {
			w.statuses[e.ID] = status{created: s.created, settings: s.settings, coalesced: s.coalesced}
			w.sawEndpoint(e, false)
		}
	case "circuit":
		c := circuits{changed: w.now}
		if c.Record, err = w.store.Circuit(w.ctx, old.statuses[hook.EndpointID(id)].Tenant, hook.EndpointID(id)); err == nil {
			if c.began = w.now; c.State != circuit.Closed {
				c.open, c.opened = w.now, w.now
			}
			if c.State == circuit.HalfOpen {
				c.leases = []lease{{holder: c.Holder, from: w.now}}
			}
			w.circuits[hook.EndpointID(id)] = c
		}
	case "sequence":
		of := orderIDOf(k.Hash)
		s := w.sequenceOf(of)
		s.Sequence, err = w.store.Sequence(w.ctx, "", of)
		s.turns[s.Head] = s.TurnAt
		for n := range s.Head { // what the sequence passed
			s.over[n] = true
		}
	case "delivery":
		ref, _ := deliveryOf(k)
		var d hook.Delivery
		if d, err = w.store.Delivery(w.ctx, ref); err == nil {
			w.rememberDelivery(d, old)
		}
	}
	if err != nil {
		w.fail(checkSetup, "read %s: %v", k, err)
	}
}

// rememberDelivery notes a restored delivery. What was sent since is forgotten.
func (w *simulation) rememberDelivery(d hook.Delivery, old checker) {
	ref := d.Ref()
	w.records[ref], w.recorded = d, append(w.recorded, ref)
	w.moved[ref], w.written[ref], w.listed[ref] = w.now, w.now, w.now
	if d.State.Settled() {
		w.settled[ref], w.purged[ref] = w.now, true // an operator may have redriven its letter since
	} else {
		w.count(inProgress)
	}
	w.sawEnd(d)
	w.attempts[ref] = make(map[int]time.Time)
	for n := range d.Attempts {
		w.attempts[ref][n+1] = old.attempts[ref][n+1]
	}
	for _, s := range old.posts[ref] {
		late := s.outcome.Class == hook.ClassDelivered && !d.State.Settled() // of two tasks for an attempt, recorded since
		if s.of.number > d.Attempts || late {
			w.count(forgotten)
			continue
		}
		w.posts[ref] = append(w.posts[ref], s)
	}
}

// checkKnown: after a restore only events of the table are sent.
func (w *simulation) checkKnown(p *process, members []member) {
	if w.restored.IsZero() {
		return
	}
	for _, m := range members {
		if i, known := w.byID[m.of.Event]; !known || w.posted[i].AcceptedAt.UnixMilli() != m.of.AcceptedAt {
			w.fail(checkRestored, "%s sends %s of an event that the table does not have", p.name, m.of)
		}
	}
}

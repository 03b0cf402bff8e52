package sim_test

import (
	"testing"

	"surehook.example/surehook/proof/world"
)

// mutation is a bug to put into the code.
type mutation struct {
	name     string
	file     string
	old, bug string  // the code, and the code with the bug
	by       []check // the checks that may find the bug first
	test     string  // or, if seeds are rarely in the situation: the package and the test that must find it
}

// mutations returns the bugs. The simulator, or the named test, must find each of them.
func mutations() []mutation {
	return []mutation{
		{
			name: "deliver follows up before the write of the decision", file: "internal/delivery/settle/settler.go", by: []check{checkOrder},
			old: "followed, undone = false, plan.Undone", bug: "followed, undone = s.FollowUp(ctx, about, plan.Record) == nil, plan.Undone",
		},
		{
			name: "a message of the events queue is deleted although its event is not stored", file: "internal/delivery/source/source.go", by: []check{checkAccepted},
			old: `s.log(ctx, slog.LevelError, "event.failed", p, p.err)
		return p.err`, bug: `s.log(ctx, slog.LevelError, "event.failed", p, p.err)
		return nil`,
		},
		{
			name: "an event past its tenant's limit is deleted and not returned", file: "internal/delivery/source/source.go", by: []check{checkAccepted},
			old: "if err := s.Queue.Return(ctx, p.message.returned(), string(p.tenant), delay); err != nil {", bug: "if err := error(nil); err != nil && delay > 0 {",
		},
		{
			name: "a message sent again forgets its first id", file: "internal/delivery/source/message.go", by: []check{checkAccepted},
			old: `if first := m.Attributes[AttrID]; first != "" {`, bug: `if first := m.Attributes[AttrID]; first == "never" {`,
		},
		{
			name: "a wrong message is deleted", file: "internal/delivery/source/source.go", by: []check{checkAccepted},
			old: "if err := s.Queue.Reject(ctx, p.message.rejected(p.err.Error())); err != nil {", bug: "if err := error(nil); err != nil {",
		},
		{
			name: "a redrive removes the rejects before it sends them", file: "internal/admin/reject/reject.go", by: []check{checkAccepted, checkEnd},
			old: `case a.Queue.Return(ctx, m.Again(), "", 0) != nil:`, bug: `case a.Queue.Remove(ctx, []source.Message{m}) != nil || a.Queue.Return(ctx, m.Again(), "", 0) != nil:`,
		},
		{
			name: "after a lost answer of a sender, the own region sends again", file: "internal/delivery/attempt/remote.go", by: []check{checkDuplicate, checkPlace},
			old: "case !errors.Is(err, send.ErrNotSent):", bug: "case false && !errors.Is(err, send.ErrNotSent):",
		},
		{
			name: "deliveries are written without a condition", file: "internal/aws/dynamo/delivery.go", by: []check{checkState, checkRecord, checkGenerations, checkWrites},
			old: "delivery := s.nextIf(k, d.Version, guard, it)", bug: "delivery := s.nextIf(k, d.Version, condition{}, it)",
		},
		{
			name: "an attempt that leaves the record of its delivery gets none of its own", file: "internal/aws/dynamo/delivery.go", by: []check{checkRecord},
			old: "err := s.moveAttempt(ctx, a, d.Tenant)", bug: "_, err := a, error(nil)",
		},
		{
			name: "circuits and jobs are written without a condition: the same wave twice, two probes, a lost wave or throttle", file: "internal/aws/dynamo/next.go", by: []check{checkRetryAfter, checkWave, checkClosing, checkProbe, checkProbeTask, checkResult, checkTold},
			old: "w := s.next(k, version, records...)", bug: "w := s.nextIf(k, version, condition{}, records...)",
		},
		{
			name: "limits are written without a condition", file: "internal/aws/dynamo/limits.go", by: []check{checkInFlight, checkRate, checkClaim},
			old: `strings.Join(u.conditions, " AND ")`, bug: `strings.Join(append([]string{"attribute_exists(pk) OR attribute_not_exists(pk)"}, u.conditions...), " OR ")`,
		},
		{
			name: "in-flight slots are granted without a check of the taken slots", file: "internal/rule/admission/permit.go", by: []check{checkInFlight},
			old: "most := max(", bug: "most := 100 + max(",
		},
		{
			name: "shares are never left", file: "internal/delivery/admit/share.go", by: []check{checkSlot, checkRequests},
			old: "if len(held) == 0 {", bug: "if len(held) >= 0 {",
		},
		{
			name: "a parked delivery is claimed twice", file: "internal/rule/admission/order.go", by: []check{checkClaim},
			old: "return l.Leases[LeaseKey(d)] != Lease{}", bug: "return l.Leases[LeaseKey(d)] != Lease{} && l.Most < 0",
		},
		{
			name: "parked deliveries are never sent in slots", file: "internal/delivery/admit/call.go", by: []check{checkLate, checkLost},
			old: "if crowded || width <= len(next.Leases) ||", bug: "if crowded || width <= 1000 ||",
		},
		{
			name: "Retry-After is forgotten", file: "internal/rule/settlement/attempted.go", by: []check{checkRecord},
			old: "return o.RetryAfter\n", bug: "return 0\n",
		},
		{
			name: "max_age is forgotten when the next attempt is planned", file: "internal/rule/settlement/attempted.go", by: []check{checkRecord},
			old: "!retry.Expired(*d, next, e.MaxAge)", bug: "!retry.Expired(*d, next, 100*e.MaxAge)",
		},
		{
			name: "max_age is forgotten when a task arrives", file: "internal/rule/settlement/judge.go", by: []check{checkAge},
			old: "retry.Expired(*d, now, s.Endpoint.MaxAge):", bug: "retry.Expired(*d, now, 100*s.Endpoint.MaxAge):",
		},
		{
			name: "a failed message is acknowledged", file: "internal/delivery/deliver/batch.go", by: []check{checkLost, checkLate},
			old: "failed = append(failed, j.message.ID)", bug: "_ = append(failed, j.message.ID)",
		},
		{
			name: "a task without its records is attempted", file: "internal/delivery/deliver/batch.go", by: []check{checkSettled, checkDuplicate, checkGenerations, checkState},
			old: "if fault, ok := snapshot.Faults[j.Task]; ok {", bug: "if fault, ok := snapshot.Faults[j.Task]; ok && len(jobs) > 1000 {",
		},
		{
			name: "a repeated post sends no tasks", file: "internal/delivery/ingest/store.go", by: []check{checkLost},
			old: "a.sendTasks(ctx, known, posts, true)", bug: "_ = healDelay",
		},
		{
			name: "a paused endpoint gets attempts", file: "internal/rule/admission/rows.go", by: []check{checkStatus},
			old: "if a.endpoint.Status == hook.StatusPaused {", bug: "if a.endpoint.Status == hook.StatusPaused && a.endpoint.MaxAge < 0 {",
		},
		{
			name: "a delivery can be replayed twice", file: "internal/hook/replay.go", by: []check{checkGenerations},
			old: "case d.Replayed.Generation != 0:", bug: "case d.Replayed.Generation < 0:",
		},
		{
			name: "a replay of a delivery in progress needs no force", file: "internal/hook/replay.go", by: []check{checkGenerations},
			old: "case !d.State.Settled() && !o.Force:\n\t\treturn d, &Error{Code: CodeInProgress, Message: fmt.Sprintf(\"the delivery is still in progress: %s\", d.State)}",
			bug: "case false:",
		},
		{
			name: "a forced replay leaves the delivery in progress", file: "internal/hook/replay.go", by: []check{checkGenerations},
			old: "d.State, d.Reason = StateCancelled, ReasonReplayed", bug: "_ = StateCancelled",
		},
		{
			name: "reconciliation removes the dead letters of dead deliveries", file: "internal/delivery/breaker/letters.go", by: []check{checkLetters},
			old: "case d.Replayed.Generation == 0:\n\t\treturn false, nil", bug: "case d.Replayed.Generation == 0:\n\t\treturn true, nil",
		},
		{
			name: "reconciliation leaves second dead letters", file: "internal/delivery/breaker/letters.go", by: []check{checkLetters},
			old: "return []Letter{other}", bug: "_ = other",
		},
		{
			name: "rate slots are not reserved", file: "internal/rule/admission/rows.go", by: []check{checkRate},
			old: "a.Next.Limits = &next", bug: "_ = &next",
		},
		{
			name: "a task that moves to another queue passes without a rate slot", file: "internal/delivery/deliver/process.go", by: []check{checkRate},
			old: "s.Task.Reserved || v.Reserved, s", bug: "true, s",
		},
		{
			name: "every delivery may probe", file: "internal/rule/circuit/circuit.go", by: []check{checkProbe},
			old: "renewal := c.State == HalfOpen && c.Holder == holder", bug: "renewal := c.State == HalfOpen",
		},
		{
			name: "no process resumes after its own decision", file: "internal/rule/settlement/judge.go", by: []check{checkLost, checkLetters, checkLate},
			old: "own, turn := d.DecidedBy == t.Nonce, s", bug: "own, turn := d.DecidedBy == t.Nonce && d.Attempts > 1000, s",
		},
		{
			name: "the own task of a cancelled delivery does not resume", file: "internal/rule/settlement/judge.go", by: []check{checkLetters, checkJobs},
			old: "d.State.Settled() && own:", bug: "d.State == hook.StateDead && own:",
		},
		{
			name: "no record says that deliveries wait for an endpoint", file: "internal/rule/admission/table.go", by: []check{checkLost, checkLate},
			old: "v.Until, a.Next.Record.ExpectParked(a.now)", bug: "v.Until, a.Next.Record",
		},
		{
			name: "a forgotten endpoint is never looked at again", file: "internal/delivery/breaker/end.go", by: []check{checkLost, checkLate},
			old: "next.LookFrom, next.LookAt = r.now, r.now.Add(firstLook)", bug: "_ = firstLook",
		},
		{
			name: "the tick checks no circuit", file: "internal/delivery/breaker/tick.go", by: []check{checkLost, checkLate},
			old: "append(faults, forEach(len(own), ", bug: "append(faults, forEach(0, ",
		},
		{
			name: "a wave writes its deliveries before it sends their tasks", file: "internal/delivery/breaker/release.go", by: []check{checkLost, checkLate},
			old: "refused := r.Queue.Send(ctx, queue, tasks, at.Sub(r.now))",
			bug: "for _, d := range deliveries {\n\t\td.State, d.Reason = hook.StateRetrying, hook.ReasonNone\n\t\tif err := r.Store.SaveDelivery(ctx, d, nil); err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n\trefused := r.Queue.Send(ctx, queue, tasks, at.Sub(r.now))",
		},
		{
			name: "deliver does not record the replay of its task", file: "internal/delivery/deliver/replay.go", by: []check{checkLost, checkLate, checkJobs},
			old: "return old, ok && old.Tenant == t.Tenant && old.Replayed.Generation == 0", bug: "return old, ok && old.Tenant == t.Tenant && old.Replayed.Generation < 0",
		},
		{
			name: "a settled replay retires nothing", file: "internal/hook/replay.go", by: []check{checkLetters},
			old: "if d.State != StateDead || d.Replayed.Generation == 0 {", bug: "if d.State != StateDead || d.Replayed.Generation >= 0 {",
		},
		{
			name: "an expired delivery is dead before its dead letter is sent", file: "internal/delivery/breaker/end.go", by: []check{checkLetters, checkJobs},
			old: "if err := r.completion().Complete(ctx, d); err != nil {",
			bug: "if saved, err := r.saveDelivery(ctx, d); err != nil || !saved {\n\t\treturn saved, err\n\t}\n\tif err := r.completion().Complete(ctx, d); err != nil {",
		},
		{
			name: "ingest trusts its cached endpoints", file: "internal/delivery/ingest/directory.go", by: []check{checkTargets, checkFilter, checkQueue},
			old: "known.mark.Version == version", bug: "known.mark.Version <= version",
		},
		{
			name: "ingest keeps a torn listing", file: "internal/delivery/ingest/directory.go", by: []check{checkTargets, checkFilter, checkQueue},
			old: "if !read.Torn {", bug: "if !read.Torn || read.Torn {",
		},
		{
			name: "the store calls a torn listing whole", file: "internal/aws/dynamo/listing.go", by: []check{checkTargets, checkFilter, checkQueue},
			old: "Torn: torn}", bug: "Torn: torn && err != nil}",
		},
		{
			name: "the store does not compare a list with its digest", file: "internal/aws/dynamo/listing.go", by: []check{checkTargets, checkFilter, checkQueue},
			old: "if it.Digest != digestOf(rows) {", bug: "if it.Digest != digestOf(rows) && it.Version < 0 {",
		},
		{
			name: "the store does not compare changes with the digest", file: "internal/aws/dynamo/listing.go", by: []check{checkTargets, checkFilter, checkQueue},
			old: "if digest+digestOf(rows) != it.Digest {", bug: "if digest+digestOf(rows) != it.Digest && it.Version < 0 {",
		},
		{
			name: "an unprocessed key fails all tasks of a batch", file: "internal/aws/dynamo/load.go", by: []check{checkOthers},
			old: "if len(faults) < len(keys) && ctx.Err() == nil {", bug: "if len(faults) == 0 {",
		},
		{
			name: "the gate takes its own write for another's after a lost answer", file: "internal/aws/dynamo/next.go", by: []check{checkTold, checkClosing},
			old: "ok && writer.Value == own {", bug: "ok && writer.Value == own && version < 0 {",
		},
		{
			name: "an update replaces the item, and drops the attributes of a later build", file: "internal/aws/dynamo/next.go", by: []check{checkKept},
			old: "if version == 0 {", bug: "if version >= 0 {",
		},
		{
			name: "a record with a word of a later build fails all tasks of a batch", file: "internal/aws/dynamo/load.go", by: []check{checkOthers},
			old: "faults[s.unreadable(ctx, item, err)] = err", bug: "return err",
		},
		{
			name: "lists leave out endpoints with a word of a later build", file: "internal/aws/dynamo/load.go", test: "internal/aws/dynamo TestListing_keepsEndpointsOfLaterBuilds",
			old: "if wanted(record, err) {", bug: "if err == nil {",
		},
		{
			name: "a delivery with a word of a later build is replayed without its record", file: "internal/hook/replay.go", by: []check{checkTenant},
			old: "case d.Unreadable():", bug: "case d.Unreadable() && now.IsZero():",
		},
		{
			name: "a message with a field of a later build is invalid", file: "internal/hook/message.go", by: []check{checkLeak, checkLost, checkLate},
			old: "\tif err == nil {\n\t\tcheck(", bug: "\tif err == nil {\n\t\terr = json.Unmarshal([]byte(body), &struct {\n\t\t\tLater string `json:\"later_build\"`\n\t\t}{})\n\t\tcheck(",
		},
		{
			name: "results of an earlier generation count", file: "internal/rule/circuit/circuit.go", by: []check{checkResult},
			old: "if c.State != Closed || c.Generation != admitted.Generation {", bug: "if c.State != Closed || admitted.Generation < 0 {",
		},
		{
			name: "slots are never given back", file: "internal/delivery/admit/slots.go", by: []check{checkSlot},
			old: "if len(f.Held)+len(f.Kept) == 0 {", bug: "if len(f.Held) >= 0 {",
		},
		{
			name: "a stale check releases a wave", file: "internal/delivery/breaker/release.go", by: []check{checkWave},
			old: "case r.check.Wave != 0 && r.check.Wave != wave:", bug: "case r.check.Wave > 1000:",
		},
		{
			name: "every look sends another task for the probe", file: "internal/delivery/breaker/check.go", by: []check{checkProbeTask},
			old: "case r.now.Before(r.record.ProbeSentAt.Add(admission.AttendAfter)):", bug: "case r.now.Before(r.record.ProbeSentAt):",
		},
		{
			name: "a resume releases nothing", file: "internal/admin/endpoint/activate.go", by: []check{checkLate},
			old: "return e, a.mended(ctx, e, false)", bug: "return e, nil",
		},
		{
			name: "429 does not throttle", file: "internal/rule/admission/outcome.go", by: []check{checkRetryAfter},
			old: "\tif o.throttled && !a.test {", bug: "\tif o.throttled && !a.test && now.IsZero() {",
		},
		{
			name: "waves of 500 at once", file: "internal/delivery/breaker/release.go", by: []check{checkWave},
			old: "min(1<<min(n-1, admission.FullWave), maxWave)", bug: "max(n, maxWave)",
		},
		{
			name: "410 does not disable the endpoint", file: "internal/delivery/settle/completion.go", by: []check{checkGone},
			old: "if d.Reason == hook.ReasonGone &&", bug: "if d.Reason == hook.ReasonGone && d.Attempts < 0 &&",
		},
		{
			name: "a task sent on has a new nonce", file: "internal/rule/settlement/follow.go", by: []check{checkNonce},
			old: "Attempt: t.Attempt, Nonce: t.Nonce, Hops", bug: "Attempt: t.Attempt, Nonce: hook.NewNonce(), Hops",
		},
		{
			name: "a closing circuit asks for no check", file: "internal/rule/admission/transition.go", by: []check{checkClosing},
			old: "case r.Generation != before.Generation,", bug: "case r.Generation > before.Generation+1000,",
		},
		{
			name: "a notification that fails is lost", file: "internal/delivery/breaker/tell.go", by: []check{checkUntold},
			old: "\t\t\tbreak\n", bug: "\t\t\tw := 0\n\t\t\t_ = w\n",
		},
		{
			name: "a notification whose check is lost is lost", file: "internal/rule/admission/record.go", test: "internal/delivery/breaker TestTick_AnnouncesWhateverFails",
			old: "if r.Untold != (Untold{}) {", bug: "if r.Untold != (Untold{}) && now.IsZero() {",
		},
		{
			name: "a second transition hides the first, if nobody was told of it", file: "internal/rule/admission/outcome.go", test: "internal/delivery/breaker TestTick_AnnouncesTheTransitionBefore",
			old: "Untold{Earlier: r.Untold.Last, ", bug: "Untold{",
		},
		{
			name: "a task older than the last park is attempted", file: "internal/rule/settlement/judge.go", by: []check{checkState, checkLost, checkLate, checkLetters},
			old: "case t.Parks < d.Parks:", bug: "case t.Parks < d.Parks-1000:",
		},
		{
			name: "a decision is written over a park that its task does not know", file: "internal/rule/settlement/decision.go", by: []check{checkLost, checkLate, checkLetters},
			old: "s.Task.Parks >= current.Parks", bug: "s.Task.Parks+1000 >= current.Parks",
		},
		{
			name: "early tasks are attempted", file: "internal/rule/settlement/judge.go", by: []check{checkEarly},
			old: "now.Before(d.NextAttemptAt.Add(-earlyTolerance)):", bug: "now.Before(d.NextAttemptAt.Add(-earlyTolerance)) && now.IsZero():",
		},
		{
			name: "a release sends its task as of before the park", file: "internal/delivery/breaker/release.go", by: []check{checkLate, checkLost},
			old: "tasks[i] = d.NextTask()", bug: "tasks[i] = d.NextTask()\n\t\ttasks[i].Parks--",
		},
		{
			name: "a throttled task asks again every 2 seconds", file: "internal/rule/admission/rows.go", by: []check{checkMessages},
			old: "return v, a.now.Before(v.Until)", bug: "ok := a.now.Before(v.Until)\n\treturn Verdict{Decision: Move, Queue: hook.QueueRetry, Until: a.now.Add(2e9)}, ok",
		},
		{
			name: "a decision is written again on the same record after a conflict", file: "internal/delivery/settle/settler.go", by: []check{checkWrites},
			old: "plan = decision.On(about, newest)", bug: "if next := decision.On(about, newest); next.Course != plan.Course {\n\t\t\t\tplan = next\n\t\t\t}",
		},
		{
			name: "every message of a job continues the job", file: "internal/delivery/replay/chain.go", test: "internal/delivery/replay TestWork_CopiesDoNotMultiply",
			old: "case m.Nonce == c.Next:", bug: "case m.Nonce != \"\":",
		},
		{
			name: "only the leader of a failed request is settled", file: "internal/delivery/deliver/request.go", by: []check{checkLost, checkLate},
			old: "done.run(j, func() (admission.Result, error) { return",
			bug: "done.run(j, func() (admission.Result, error) {\n\t\t\tif j != leader && made[i].Outcome.Status/100 != 2 {\n\t\t\t\treturn admission.Result{}, nil\n\t\t\t}\n\t\t\treturn",
		},
		{
			name: "a rejected event takes the others of its request with it", file: "internal/rule/settlement/attempted.go", by: []check{checkRecord},
			old: "if RejectedTogether(e, o) {", bug: "if false && RejectedTogether(e, o) {",
		},
		{
			name: "the last attempt of an event is a request that is rejected for another", file: "internal/rule/settlement/attempted.go", by: []check{checkRecord},
			old: "d.Attempts < hook.MaxRequests {", bug: "d.Attempts < 0 {",
		},
		{
			name: "a refused redrive loses the letter", file: "internal/delivery/deliver/replay.go", by: []check{checkLetters},
			old: "return old, false, d.returnLetter(ctx, &old, request)", bug: "return old, false, nil",
		},
		{
			name: "a status of give_up_on leaves the events of a request together", file: "internal/delivery/attempt/together.go", by: []check{checkBatch},
			old: "settlement.RejectedTogether(e,", bug: "settlement.RejectedTogether(new(hook.Endpoint),",
		},
		{
			name: "a request has more events than max_events", file: "internal/delivery/attempt/together.go", by: []check{checkBatch},
			old: "len(last) == e.Coalesce.MaxEvents ||", bug: "len(last) == 2*e.Coalesce.MaxEvents ||",
		},
		{
			name: "the directory reads the version after the list", file: "internal/delivery/ingest/directory.go", by: []check{checkTargets, checkFilter, checkQueue},
			old: "found := new(listing).with(", bug: "if read.Version, err = d.store.TenantVersion(ctx, tenant); err != nil {\n\t\treturn nil, err\n\t}\n\tfound := new(listing).with(",
		},
		{
			name: "events go to endpoints whose filter refuses them", file: "internal/delivery/ingest/listing.go", by: []check{checkFilter},
			old: "if *left -= steps; !matches {", bug: "if *left -= steps; !matches && *left < 0 {",
		},
		{
			name: "a test event goes to all subscribers", file: "internal/delivery/ingest/ingest.go", by: []check{checkTargets},
			old: "posts[0].event.Targets = []hook.Target{e.Target()}", bug: "posts[0].event.Targets, _ = known.targets(eventType, payload, new(1000))",
		},
		{
			name: "the first task of a coalescing endpoint skips its window", file: "internal/delivery/ingest/coalesce.go", by: []check{checkWindow},
			old: "at := c.End(event.AcceptedAt)", bug: "at := earliest",
		},
		{
			name: "retries at a coalescing endpoint skip their window", file: "internal/hook/coalesce.go", by: []check{checkWindow},
			old: "return QueueCoalesce, e.Coalesce.Due(due)", bug: "return QueueCoalesce, due",
		},
		{
			name: "retries go to the queue live", file: "internal/rule/settlement/follow.go", by: []check{checkQueue},
			old: "QueueAt(hook.QueueRetry, d.NextAttemptAt)", bug: "QueueAt(hook.QueueLive, d.NextAttemptAt)",
		},
		{
			name: "a wave goes to the queue live", file: "internal/delivery/breaker/release.go", by: []check{checkQueue},
			old: "QueueAt(hook.QueueRetry,", bug: "QueueAt(hook.QueueLive,",
		},
		{
			name: "replays go to the queue live", file: "internal/delivery/replay/enqueue.go", by: []check{checkQueue},
			old: "Send(ctx, hook.QueueReplay,", bug: "Send(ctx, hook.QueueLive,",
		},
		{
			name: "a fixed endpoint falls back to other addresses", file: "internal/delivery/attempt/remote.go", by: []check{checkPlace},
			old: "case r.Endpoint.Fixed:", bug: "case r.Endpoint.Fixed && r.Attempt < 0:",
		},
		{
			name: "requests of another region are made at home", file: "internal/delivery/attempt/remote.go", by: []check{checkPlace},
			old: "case !r.Endpoint.Remote():", bug: "case !r.Endpoint.Fixed:",
		},
		{
			name: "an outcome is written three times only", file: "internal/delivery/settle/settler.go", by: []check{checkPersist},
			old: "store.Persist, maxPersistAttempts\n", bug: "store.Persist, 3\n",
		},
		{
			name: "a status of retry_on is not retried", file: "internal/hook/status.go", by: []check{checkStatuses},
			old: "case slices.Contains(e.RetryOn, o.Status):", bug: "case len(e.RetryOn) > MaxStatuses:",
		},
		{
			name: "a status of give_up_on is retried", file: "internal/hook/status.go", by: []check{checkStatuses},
			old: "case slices.Contains(e.GiveUpOn, o.Status):", bug: "case len(e.GiveUpOn) > MaxStatuses:",
		},
		{
			name: "deliver keeps the endpoints that it read first", file: "internal/delivery/deliver/snapshot.go", by: []check{checkSettings, checkStatus},
			old: "func (s Snapshot) capTimeouts() {\n",
			bug: "var kept = make(chan map[hook.EndpointID]*hook.Endpoint, 1)\n\nfunc init() { kept <- make(map[hook.EndpointID]*hook.Endpoint) }\n\nfunc (s Snapshot) capTimeouts() {\n\tfirst := <-kept\n\tfor id, e := range s.Endpoints {\n\t\tif first[id] == nil {\n\t\t\tfirst[id] = e\n\t\t}\n\t\ts.Endpoints[id] = first[id]\n\t}\n\tkept <- first\n",
		},
		{
			name: "a slot is given to deliveries of the current shards only", file: "internal/delivery/admit/call.go", by: []check{checkLate, checkLost},
			old: "c.endpoint.Widest(), since", bug: "c.endpoint.Target(), since",
		},
		{
			name: "a wave releases deliveries of the current shards only", file: "internal/delivery/breaker/end.go", by: []check{checkLate, checkLost},
			old: "target = r.endpoint.Widest()", bug: "target = r.endpoint.Target()",
		},
		{
			name: "an erasure stops at the first generation", file: "internal/delivery/replay/erase.go", by: []check{checkErased},
			old: "if erased.Replayed.Generation == 0 {", bug: "if erased.Replayed.Generation >= 0 {",
		},
		{
			name: "a tenant in erasure takes events", file: "internal/aws/dynamo/erasure.go", by: []check{checkErasure},
			old: "\", closing = :closing\"", bug: "\", closed = :closing\"",
		},
		{
			name: "the erasure of a tenant waits for no process", file: "internal/admin/erasure/eraser.go", by: []check{checkErasure},
			old: "e.NotBefore = now.Add(Quiet)", bug: "e.NotBefore = now",
		},
		{
			name: "the sweeper's task forgets Parks", file: "internal/delivery/settle/orders.go", by: []check{checkLost},
			old: "return append(tasks, d.NextTask()), nil", bug: "return append(tasks, hook.NewTask(d.Tenant, d.Ref(), d.Attempts+1)), nil",
		},
		{
			name: "the sweeper knows no queued delivery", file: "internal/delivery/breaker/sweep.go", by: []check{checkLost},
			old: "errors.Join(r.sweepState(ctx, hook.StateRetrying), r.sweepState(ctx, hook.StateQueued))", bug: "errors.Join(r.sweepState(ctx, hook.StateRetrying))",
		},
		{
			name: "a queued delivery gets no record", file: "internal/delivery/breaker/record.go", by: []check{checkLost},
			old: "made, err = b.saveDelivery(ctx, d)", bug: "made = d.Version > 0",
		},
		{
			name: "a queued replay gets no record", file: "internal/aws/dynamo/stream.go", by: []check{checkLost, checkJobs},
			old: "it.Replayed != nil:", bug: "it.Replayed != nil && len(it.Targets) > 0:",
		},
		{
			name: "a slot is leased for an hour", file: "internal/rule/admission/leases.go", by: []check{checkLease},
			old: "const LeaseFor = 2 * time.Minute", bug: "const LeaseFor = time.Hour",
		},
		{
			name: "a probe is leased for an hour", file: "internal/rule/circuit/circuit.go", by: []check{checkLease},
			old: "const ProbeLease = 2 * time.Minute", bug: "const ProbeLease = time.Hour",
		},
		{
			name: "a slot is leased for less than an attempt and its settlement take", file: "internal/rule/admission/leases.go", by: []check{checkInFlight},
			old: "const LeaseFor = 2 * time.Minute", bug: "const LeaseFor = 25 * time.Second",
		},
		{
			name: "a failed admission keeps its slots", file: "internal/delivery/admit/gate.go", by: []check{checkSlot},
			old: "return before.End(v.Lease) })", bug: "return before })",
		},
		{
			name: "a letter redriven before the record of its death is dropped", file: "internal/delivery/deliver/replay.go", by: []check{checkLost, checkLate, checkLetters, checkJobs},
			old: "j.err = errEarlyRedrive", bug: "_ = errEarlyRedrive",
		},
		{
			name: "destinations in AWS get requests over HTTP", file: "internal/delivery/attempt/remote.go", by: []check{checkPlace},
			old: "return m.AWS.Send(ctx, r), nil", bug: "return m.Sender.Send(ctx, r), nil",
		},
		{
			name: "the shorter retention of an event is forgotten", file: "internal/delivery/ingest/ingest.go", by: []check{checkRetention},
			old: "l.Retention(a.Retention, r.RetainFor)", bug: "l.Retention(a.Retention, 0)",
		},
		{
			name: "of two posts with one key in a batch, the last one wins", file: "internal/delivery/ingest/store.go", by: []check{checkFirstUse},
			old: "valid = append(valid, &posts[i])", bug: "valid = append([]*post{&posts[i]}, valid...)",
		},
		{
			name: "a standard envelope has the time of the request", file: "internal/rule/shape/shape.go", by: []check{checkContent},
			old: "+room), `{\"type\":%q,\"timestamp\":%q`, event.Type, stamp(event.AcceptedAt))", bug: "+room), `{\"type\":%q,\"timestamp\":%q`, event.Type, stamp(time.Now()))",
		},
		{
			name: "a probe without a request keeps its lease", file: "internal/rule/circuit/circuit.go", by: []check{checkUnmade},
			old: "r.Unmade && r.Copied:", bug: "r.Unmade:",
		},
		{
			name: "a uid can be given twice", file: "internal/aws/dynamo/endpoint.go", by: []check{checkUID},
			old: "absent(), uidItem{e.ID})", bug: "condition{}, uidItem{e.ID})",
		},
		{
			name: "a task that finds no room among the schedules is forgotten", file: "internal/delivery/settle/task.go", by: []check{checkLost, checkLate},
			old: "s.Schedules.At(ctx, task, at); err != nil {", bug: "s.Schedules.At(ctx, task, at); err != nil && err.Error() != \"the quota of schedules is exhausted\" {",
		},
		{
			name: "a probe is leased for less than an attempt and its settlement take", file: "internal/rule/circuit/circuit.go", test: "internal/delivery/breaker TestProbe_OfASecondTaskWaits",
			old: "const ProbeLease = 2 * time.Minute", bug: "const ProbeLease = 25 * time.Second",
		},
		{
			name: "a task whose attempt before is not recorded makes its attempt", file: "internal/rule/settlement/judge.go", test: "proof/sim TestRestore",
			old: "case t.Attempt > d.Attempts+1:", bug: "case t.Attempt > d.Attempts+1000:",
		},
		{
			name: "the letter of an unknown delivery stays", file: "internal/delivery/breaker/letters.go", test: "proof/sim TestRestore",
			old: "if !recorded {\n\t\treturn []Letter{letter}", bug: "if !recorded {\n\t\treturn nil",
		},
		{
			name: "a failed probe forgets its copy", file: "internal/rule/circuit/circuit.go", test: "internal/rule/circuit TestCircuit_NoProbeBesideACopy",
			old: "next.LeaseUntil, next.ProbeAt = c.LeaseUntil, Later(next.ProbeAt, c.LeaseUntil)", bug: "next.ProbeAt = Later(next.ProbeAt, c.LeaseUntil)",
		},
		{
			name: "of two tasks of one attempt in a batch, the second is acknowledged", file: "internal/delivery/deliver/judge.go", test: "internal/delivery/deliver TestProcessBatch_OneTaskMakesTheAttempt",
			old: "j.err = errOtherTask", bug: "_ = errOtherTask",
		},
		{
			name: "a task whose copy may be making the attempt is acknowledged", file: "internal/delivery/deliver/process.go", test: "internal/delivery/deliver TestSlots_SurviveACrash",
			old: "return settlement.Step{}, errOtherTask", bug: "return settlement.Step{Do: settlement.Drop}, nil",
		},
		{
			name: "two tasks of one attempt in a batch are taken for copies", file: "internal/delivery/deliver/batch.go", test: "internal/delivery/deliver TestProcessBatch_OneTaskMakesTheAttempt",
			old: "other.Task.Nonce == j.Task.Nonce && attemptOf", bug: "attemptOf",
		},
		{
			name: "sequences are written without a condition", file: "internal/aws/dynamo/sequence.go", test: "proof/sim TestOrdered",
			old: `s.saveNext(ctx, "save sequence "+q.Key, sequenceKey(q.ID), q.Version, q, sequenceRow(q))`,
			bug: `s.commit(ctx, "save sequence "+q.Key, s.nextIf(sequenceKey(q.ID), q.Version, condition{}, q, sequenceRow(q)))`,
		},
		{
			name: "a place is written twice", file: "internal/aws/dynamo/sequence.go", test: "internal/memory TestStore",
			old: "s.put(placeKey(id, p.Number), absent(), p)", bug: "s.put(placeKey(id, p.Number), condition{}, p)",
		},
		{
			name: "a dead head blocks nothing", file: "internal/rule/order/order.go", test: "proof/sim TestOrdered",
			old: "return closed || !block", bug: "return true",
		},
		{
			name: "nobody looks again after an event is stored", file: "internal/delivery/settle/orders.go", test: "internal/delivery/settle TestOrders_AnEventStoredWhileTheHeadEnds",
			old: "if s.TurnOf(d) != order.Later {", bug: "if s.TurnOf(d) == order.Passed {",
		},
		{
			name: "a number is passed while its event can come", file: "internal/rule/order/order.go", test: "internal/delivery/settle TestOrders_AnEventStoredWhileTheHeadEnds",
			old: "return s.Late(now) ||", bug: "return true ||",
		},
		{
			name: "a stored event has no place", file: "internal/delivery/settle/orders.go", test: "proof/sim TestOrdered",
			old: "if number == s.Head {", bug: "if number == s.Head || len(deliveries) > 1 {",
		},
		{
			name: "a delivery is attempted before its turn", file: "internal/rule/order/order.go", test: "proof/sim TestOrdered",
			old: "case turn > s.Head:\n\t\treturn Later", bug: "case turn > s.Head:\n\t\treturn Now",
		},
		{
			name: "a sequence trusts a death, which may be replayed or not stand", file: "internal/delivery/settle/turn.go", test: "internal/delivery/settle TestOrders_AStaleDeath",
			old: "== order.Now && ended.State != hook.StateDead {", bug: "== order.Now {",
		},
		{
			name: "a replay behind all others has a number, and no place", file: "internal/delivery/settle/orders.go", test: "proof/sim TestOrdered",
			old: "d, number := deliveries[i], from+int64(i)\n\t\tif number == s.Head {", bug: "d, number := deliveries[i], from+int64(i)\n\t\tif number == s.Head || d.ID.Generation > 1 {",
		},
		{
			name: "a post behind an empty number does not tend it", file: "internal/delivery/settle/orders.go", test: "proof/sim TestOrdered",
			old: "if again || s.Late(o.Now()) {", bug: "if again && s.Head < 0 {",
		},
		{
			name: "nobody looks after a sequence in which deliveries wait", file: "internal/delivery/settle/orders.go", test: "internal/delivery/settle TestOrders_ALongWait",
			old: "waits && next != s, nil", bug: "waits && s.Head < 0, nil",
		},
		{
			name: "the sweep does not send the task of a head again", file: "internal/delivery/settle/orders.go", test: "internal/delivery/settle TestOrders_ALostTurn",
			old: "s.ID, nil, s.Late(now))", bug: "s.ID, nil, false)",
		},
		{
			name: "a sequence moved on before a crash, and the message that comes again sends no task", file: "internal/delivery/settle/turn.go", test: "internal/delivery/settle TestOrders_DeliverKilledAtAnyEffect",
			old: "ended != nil && s.MovedBy == by //", bug: "ended != nil && s.MovedBy < 0 //",
		},
		{
			name: "an event is stored again with a new number", file: "internal/aws/dynamo/event.go", test: "proof/sim TestOrdered",
			old: "s.put(eventKey(e.ID), unused(e.AcceptedAt), ", bug: "s.put(eventKey(e.ID), condition{}, ",
		},
		{
			name: "the end of a delivery without a message moves no sequence", file: "internal/delivery/breaker/end.go", test: "internal/delivery/settle TestOrders_AnEndThatDoesNotStand",
			old: "err = r.orders().Ended(ctx, d)", bug: "err = nil",
		},
		{
			name: "a cancelled delivery moves no sequence", file: "internal/delivery/replay/end.go", test: "internal/delivery/settle TestOrders_ReplayKilledAtAnyEffect",
			old: "return d, r.completion().End(ctx, d)", bug: "return d, r.completion().Complete(ctx, d)",
		},
		{
			name: "the end of a replayed delivery moves its sequence", file: "internal/delivery/settle/turn.go", test: "internal/delivery/settle TestOrders_EndOfAReplayedDelivery",
			old: "d.Turn() == 0 || d.Replayed.Generation != 0 || !d", bug: "d.Turn() == 0 || !d",
		},
	}
}

// mutate returns the path of an overlay with the mutation's file with the bug.
func (m mutation) mutate(t *testing.T) (overlay string) {
	t.Helper()

	return world.Mutate(t, m.file, m.old, m.bug)
}

// TestMutations_fit checks that every mutation still fits the code: its old text
// stands in its file exactly once. TestMutations runs weekly only.
func TestMutations_fit(t *testing.T) {
	t.Parallel()

	for _, tt := range mutations() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if (len(tt.by) == 0) == (tt.test == "") {
				t.Errorf("checks %q, test %q; want one of them to find the bug", tt.by, tt.test)
			}
			tt.mutate(t)
		})
	}
}

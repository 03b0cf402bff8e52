package hook_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
)

var (
	replayedAt     = time.Date(2026, 3, 4, 5, 6, 7, 8_000_000, time.UTC)
	someDeadLetter = hook.DeadLetter{
		Delivery: refOf(someEvent, someEndpoint, 1), Tenant: "acme",
		Event: someEvent, Endpoint: someEndpoint, EventType: "order.paid", Reason: hook.ReasonExhausted,
		Attempts: 7, LastStatus: 503, LastClass: "unavailable", LastError: "503 Service Unavailable", DiedAt: replayedAt,
	}
)

// A new generation may wait for MaxMaxAge, and must not outlive its event.
func TestDelivery_Replay_nearTheEndOfTheEvent(t *testing.T) {
	t.Parallel()

	for left, want := range map[time.Duration]hook.Code{hook.MaxMaxAge: 0, hook.MaxMaxAge - time.Millisecond: hook.CodeConflict} {
		d := someDelivery(2, hook.StateDead)
		d.ExpiresAt = replayedAt.Add(left)
		_, err := d.Replay(hook.ReplayRequest{}, replayedAt)
		if (err != nil || want != 0) && hook.CodeOf(err) != want {
			t.Errorf("Replay with %v left = %v; want code %s", left, err, want)
		}
	}
}

// someDelivery returns the record of a delivery in the state, after three attempts.
func someDelivery(generation int, state hook.State) hook.Delivery {
	return hook.Delivery{
		ID: hook.DeliveryID{Event: someEvent, Endpoint: someEndpoint, Generation: generation}, AcceptedAt: replayedAt.UnixMilli(), Tenant: "acme", EventType: "order.paid",
		State: state, Reason: hook.ReasonExhausted, Attempts: 3, Version: 4, DecidedBy: "t",
		CreatedAt: replayedAt.Add(-time.Hour), UpdatedAt: replayedAt.Add(-time.Minute), NextAttemptAt: replayedAt.Add(time.Minute),
		ExpiresAt: replayedAt.Add(hook.MaxMaxAge), Last: hook.Outcome{Class: hook.ClassUnavailable, Status: 503},
		Job: "rpl_old", JobIndex: 5, By: "key_old", Note: "a note",
	}
}

func TestDelivery_Replay(t *testing.T) {
	t.Parallel()

	const refused, inProgress, replayed, unreadable hook.Code = hook.CodeConflict, hook.CodeInProgress, hook.CodeReplayed, hook.CodeInternal
	manual, force := hook.ReplayRequest{By: "key_a", Job: "rpl_a", JobIndex: 7}, hook.ReplayRequest{By: "key_a", Force: true}
	redrive, both := hook.ReplayRequest{Redrive: true}, hook.ReplayRequest{Redrive: true, Force: true}
	tests := []struct {
		state hook.State
		codes [5]hook.Code // manual, forced, redrive, forced redrive, and forced after an earlier replay; 0: no error
	}{
		{state: 0, codes: [5]hook.Code{unreadable, unreadable, unreadable, unreadable, unreadable}},
		{state: hook.StateQueued, codes: [5]hook.Code{inProgress, 0, inProgress, refused, replayed}},
		{state: hook.StateRetrying, codes: [5]hook.Code{inProgress, 0, inProgress, refused, replayed}},
		{state: hook.StateParked, codes: [5]hook.Code{inProgress, 0, inProgress, refused, replayed}},
		{state: hook.StateDelivered, codes: [5]hook.Code{0, 0, refused, refused, replayed}},
		{state: hook.StateDead, codes: [5]hook.Code{0, 0, 0, 0, replayed}},
		{state: hook.StateDiscarded, codes: [5]hook.Code{0, 0, refused, refused, replayed}},
		{state: hook.StateCancelled, codes: [5]hook.Code{0, 0, refused, refused, replayed}},
	}
	for _, tt := range tests {
		for i, request := range []hook.ReplayRequest{manual, force, redrive, both, force} {
			name := tt.state.String() + " " + []string{"manual", "forced", "redrive", "forced redrive", "replayed before"}[i]
			t.Run(name, func(t *testing.T) {
				t.Parallel()

				old := someDelivery(2, tt.state)
				if i == 4 {
					old.Replayed = hook.Replayed{ReplayRequest: manual, Generation: 3, At: replayedAt.Add(-time.Second)}
				}
				want := old
				if tt.codes[i] == 0 {
					want.Replayed = hook.Replayed{ReplayRequest: request, Generation: 3, At: replayedAt}
					if !tt.state.Settled() { // at most one generation is in progress
						want.State, want.Reason, want.DecidedBy = hook.StateCancelled, hook.ReasonReplayed, ""
						want.UpdatedAt, want.NextAttemptAt = replayedAt, time.Time{}
					}
				}
				got, err := old.Replay(request, replayedAt)
				if tt.codes[i] == 0 && err != nil || tt.codes[i] != 0 && (err == nil || hook.CodeOf(err) != tt.codes[i]) {
					t.Errorf("Replay(%+v) = %v; want code %s", request, err, tt.codes[i])
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("Replay(%+v) differs (-want +got):\n%s", request, diff)
				}
				if wantCancelled := tt.codes[i] == 0 && !tt.state.Settled(); got.CancelledByReplay() != wantCancelled {
					t.Errorf("CancelledByReplay() = %t; want %t", got.CancelledByReplay(), wantCancelled)
				}
			})
		}
	}
}

func TestDelivery_Replay_EndsWithTheLastGeneration(t *testing.T) {
	t.Parallel()

	if d, err := someDelivery(hook.MaxGeneration-1, hook.StateDead).Replay(hook.ReplayRequest{}, replayedAt); err != nil || d.Replayed.Generation != hook.MaxGeneration {
		t.Errorf("Replay() of the last generation but one = %d, %v; want %d", d.Replayed.Generation, err, hook.MaxGeneration)
	}
	if _, err := someDelivery(hook.MaxGeneration, hook.StateDead).Replay(hook.ReplayRequest{Force: true}, replayedAt); err == nil || hook.CodeOf(err) != hook.CodeConflict {
		t.Errorf("Replay() of the last generation = %v; want a conflict", err)
	}
}

func TestDeliveryRef_Predecessor(t *testing.T) {
	t.Parallel()

	first := someDelivery(1, hook.StateDead)
	if before, ok := first.Ref().Predecessor(); ok {
		t.Errorf("Predecessor() of the first = %s; want none", before)
	}
	if before, ok := first.Successor().Predecessor(); !ok || before != first.Ref() {
		t.Errorf("Predecessor() of the second = %s, %t; want %s", before, ok, first.ID)
	}
}

func TestQueuedReplay(t *testing.T) {
	t.Parallel()

	event := hook.Event{
		ID: someEvent, Tenant: "acme", Type: "order.paid", Targets: []hook.Target{{Endpoint: someEndpoint, Shards: 1}},
		AcceptedAt: replayedAt.Add(-time.Hour), ExpiresAt: replayedAt.Add(90 * time.Hour),
	}
	old, err := someDelivery(2, hook.StateDead).Replay(hook.ReplayRequest{By: "key_a", Job: "rpl_a", JobIndex: 7, Force: true}, replayedAt)
	if err != nil {
		t.Fatal(err)
	}
	want := hook.Delivery{
		ID: hook.DeliveryID{Event: someEvent, Endpoint: someEndpoint, Generation: 3}, AcceptedAt: replayedAt.UnixMilli(), Tenant: "acme", EventType: "order.paid",
		State: hook.StateQueued, CreatedAt: replayedAt, UpdatedAt: replayedAt, ExpiresAt: event.ExpiresAt,
		Job: "rpl_a", JobIndex: 7, By: "key_a",
	}
	if diff := cmp.Diff(want, hook.QueuedReplay(event, old)); diff != "" {
		t.Errorf("QueuedReplay() differs (-want +got):\n%s", diff)
	}
}

func TestDelivery_Retire(t *testing.T) {
	t.Parallel()

	for state := hook.StateQueued; state <= hook.StateCancelled; state++ {
		for _, replayed := range []bool{false, true} {
			old := someDelivery(1, state)
			if replayed {
				old.Replayed = hook.Replayed{Generation: 2, At: replayedAt}
			}
			want, wantOK := old, state == hook.StateDead && replayed
			if wantOK { // the times stay
				want.State, want.Reason = hook.StateDiscarded, hook.ReasonReplayed
			}
			got, ok := old.Retire()
			if diff := cmp.Diff(want, got); ok != wantOK || diff != "" {
				t.Errorf("Retire() of %s, replayed: %t = %t; want %t; differs (-want +got):\n%s", state, replayed, ok, wantOK, diff)
			}
		}
	}
}

func TestDecodeTask_ReadsADeadLetterAsAReplay(t *testing.T) {
	t.Parallel()

	body, err := someDeadLetter.Encode()
	if err != nil {
		t.Fatal(err)
	}
	want := hook.Task{
		Delivery: refOf(someEvent, someEndpoint, 2), Tenant: "acme",
		Attempt: 1, Nonce: "redrive", ReplayRequest: hook.ReplayRequest{Redrive: true},
	}
	for range 2 { // the same each time
		if got, err := hook.DecodeTask(body); err != nil || got != want {
			t.Errorf("DecodeTask(%s) = %+v, %v; want %+v", body, got, err, want)
		}
	}
	forged := strings.TrimSuffix(body, "}") + `,"replay":{"force":true,"job":"rpl_a"}}`
	if got, err := hook.DecodeTask(forged); err != nil || got != want {
		t.Errorf("DecodeTask(%s) = %+v, %v; want %+v: a dead letter requests only a redrive", forged, got, err, want)
	}
	last := someDeadLetter
	last.Delivery.Generation = hook.MaxGeneration
	if body, err = last.Encode(); err != nil {
		t.Fatal(err)
	}
	if got, err := hook.DecodeTask(body); err == nil || hook.CodeOf(err) != hook.CodeInvalid {
		t.Errorf("DecodeTask(%s) = %+v, %v; want an invalid error: no generation follows", body, got, err)
	}
}

func TestTask_CarriesReplayRequest(t *testing.T) {
	t.Parallel()

	plain := hook.Task{Delivery: refOf(someEvent, someEndpoint, 2), Tenant: "acme", Attempt: 1, Nonce: "n"}
	requested := plain
	requested.ReplayRequest = hook.ReplayRequest{By: "key_a", Job: "rpl_a", JobIndex: 99_999, Force: true}
	for _, task := range []hook.Task{plain, requested} {
		body, err := task.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(body, `"replay"`) != (task.ReplayRequest != hook.ReplayRequest{}) {
			t.Errorf("Encode() = %s; want a replay request only if set", body)
		}
		if got, err := hook.DecodeTask(body); err != nil || got != task {
			t.Errorf("DecodeTask(%s) = %+v, %v; want %+v", body, got, err, task)
		}
	}
	requested.ReplayRequest.JobIndex = -1
	body, err := requested.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := hook.DecodeTask(body); err == nil || hook.CodeOf(err) != hook.CodeInvalid {
		t.Errorf("DecodeTask(%s) = %+v, %v; want an invalid error", body, got, err)
	}
}

func TestDecodeDeadLetter(t *testing.T) {
	t.Parallel()

	const delivery = `"delivery":"dlv_01jd3m5k8zf4v9q2w7x6y5t4r3_0123456789abcdef_1","tenant":"acme"`
	whole, err := someDeadLetter.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := hook.DecodeDeadLetter(whole); err != nil || got != someDeadLetter {
		t.Errorf("DecodeDeadLetter(%s) = %+v, %v; want %+v", whole, got, err, someDeadLetter)
	}
	tests := []struct{ name, body string }{
		{name: "no JSON", body: `hello`},
		{name: "null", body: `null`},
		{name: "no delivery", body: `{"tenant":"acme","died_at":"2026-03-04T05:06:07.008Z"}`},
		{name: "an invalid delivery", body: `{"delivery":"dlv_1","died_at":"2026-03-04T05:06:07.008Z"}`},
		{name: "no time", body: `{` + delivery + `,"attempts":1}`},
		{name: "an invalid time", body: `{` + delivery + `,"died_at":"yesterday"}`},
		{name: "a task", body: `{` + delivery + `,"attempt":1,"nonce":"n"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if deadLetter, err := hook.DecodeDeadLetter(tt.body); err == nil || hook.CodeOf(err) != hook.CodeInvalid {
				t.Errorf("DecodeDeadLetter(%s) = %+v, %v; want an invalid error", tt.body, deadLetter, err)
			}
		})
	}
}

func TestDeadLetterOf(t *testing.T) {
	t.Parallel()

	d := someDelivery(1, hook.StateDead)
	d.Attempts, d.UpdatedAt = 7, replayedAt
	d.Last.Error = "503 Service Unavailable"
	if diff := cmp.Diff(someDeadLetter, hook.DeadLetterOf(d)); diff != "" {
		t.Errorf("DeadLetterOf() differs (-want +got):\n%s", diff)
	}
	d.Attempts, d.Last = 0, hook.Outcome{}
	if got := hook.DeadLetterOf(d); got.LastClass != "" || got.LastStatus != 0 {
		t.Errorf("DeadLetterOf(no attempts) = %+v; want no class and no status", got)
	}
}

func TestValidateNote(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name, note string
		want       bool
	}{
		{name: "none", note: "", want: true},
		{name: "words", note: "test data, see ticket 7: größer", want: true},
		{name: "200 bytes", note: strings.Repeat("a", 200), want: true},
		{name: "201 bytes", note: strings.Repeat("a", 201), want: false},
		{name: "bytes count, not characters", note: strings.Repeat("ö", 101), want: false},
		{name: "two lines", note: "a\nb", want: false},
		{name: "a control character", note: "a\x1bb", want: false},
		{name: "a DEL", note: "a\x7fb", want: false},
		{name: "a C1 control character", note: "a\u009bb", want: false},
		{name: "no UTF-8", note: "a\xffb", want: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			errs := hook.ValidateNote(tt.note)
			if (len(errs) == 0) != tt.want || len(errs) > 0 && errs[0].Field != "note" {
				t.Errorf("ValidateNote(%q) = %v; want valid: %t", tt.note, errs, tt.want)
			}
		})
	}
}

func TestParseJobID(t *testing.T) {
	t.Parallel()

	id := hook.NewJobID()
	if got, err := hook.ParseJobID(string(id)); err != nil || got != id {
		t.Errorf("ParseJobID(%s) = %s, %v", id, got, err)
	}
	for _, s := range []string{"", "rpl_", string(someEvent), "rpl_" + string(someEvent[4:]) + "x", strings.ToUpper(string(id))} {
		if got, err := hook.ParseJobID(s); hook.CodeOf(err) != hook.CodeNotFound {
			t.Errorf("ParseJobID(%q) = %s, %v; want not_found", s, got, err)
		}
	}
}

func FuzzDecodeDeadLetter(f *testing.F) {
	body, err := someDeadLetter.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	f.Add(`{"delivery":"dlv_01jd3m5k8zf4v9q2w7x6y5t4r3_0123456789abcdef_9999","died_at":"0001-01-01T00:00:00Z"}`)
	f.Add(`{"delivery":"dlv_01jd3m5k8zf4v9q2w7x6y5t4r3_0123456789abcdef_1","died_at":"2026-03-04T05:06:07+23:59"}`)
	f.Fuzz(func(t *testing.T, body string) {
		deadLetter, err := hook.DecodeDeadLetter(body)
		if err != nil {
			return
		}
		again, err := deadLetter.Encode()
		if err != nil {
			t.Fatalf("Encode(%+v) = %v", deadLetter, err)
		}
		if back, err := hook.DecodeDeadLetter(again); err != nil || !cmp.Equal(deadLetter, back) {
			t.Errorf("DecodeDeadLetter(%s) = %+v, %v; want %+v", again, back, err, deadLetter)
		}
		if task := deadLetter.Task(); task.Attempt != 1 || task.Delivery.Generation != deadLetter.Delivery.Generation+1 {
			t.Errorf("Task() of %+v = %+v; want the first attempt of the next generation", deadLetter, task)
		}
	})
}

package formats_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"reflect"
	"time"

	"surehook.example/surehook/internal/admin/erasure"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/drain"
	"surehook.example/surehook/internal/rule/latency"
	"surehook.example/surehook/internal/rule/order"
	"surehook.example/surehook/internal/rule/review"
	"surehook.example/surehook/internal/rule/stats"
)

const (
	tenant = hook.TenantID("acme")

	first  = hook.EndpointID("ep_0000000000000001") // with every setting
	second = hook.EndpointID("ep_0000000000000002")
	third  = hook.EndpointID("ep_0000000000000003")
	fourth = hook.EndpointID("ep_0000000000000004")
	fifth  = hook.EndpointID("ep_0000000000000005") // without a setting

	caller = hook.KeyID("key_0000000000000001")
	job    = hook.JobID("rpl_01kdz4vpm0e1paa5z0hx5r7v01")
)

// start is the time of the first record. All later times have another millisecond.
func start() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 89e6, time.UTC) }

// at returns the time of a record, a number of minutes after the start.
func at(minutes int) time.Time {
	return start().Add(time.Duration(minutes)*time.Minute + time.Duration(minutes)*time.Millisecond)
}

// gone is the time at which the records expire.
func gone() time.Time { return time.Date(2036, 3, 4, 5, 6, 7, 0, time.UTC) }

// filled returns the endpoint with a value in each stored number, text and switch that has none.
func filled(e hook.Endpoint) hook.Endpoint {
	for field, v := range reflect.ValueOf(&e).Elem().Fields() {
		if !v.IsZero() || field.Tag.Get("stored") == "" || field.Name == "Version" {
			continue
		}
		switch kind := v.Kind(); {
		case kind == reflect.String:
			v.SetString(field.Name)
		case kind == reflect.Bool:
			v.SetBool(true)
		case v.CanInt():
			v.SetInt(7)
		case v.CanFloat():
			v.SetFloat(7.5)
		}
	}
	return e
}

// endpoints returns an endpoint with every setting, and others for the words and settings
// that exclude each other. secret is sealed.
func endpoints(secret []byte) []hook.Endpoint {
	e := hook.Endpoint{
		ID: first, Tenant: tenant, UID: "billing", URL: "https://example.com/hooks?a=1", Description: "Zoë's <billing>",
		EventTypes: []string{"order.*", "invoice.paid"}, Filter: []byte(`{"total":[{"numeric":[">",100]}]}`),
		Metadata: map[string]string{"team": "billing"}, SealedHeaders: map[string][]byte{"X-Env": secret},
		Auth: hook.Auth{Type: hook.AuthOAuth2, Username: "u", Sealed: secret, OAuth: hook.OAuth{
			TokenURL: "https://id.example.com/token", ClientID: "surehook", Scope: "hooks", Audience: "billing", InBody: true,
		}},
		TLS: hook.TLS{
			ID: "m1", CA: true, Client: true, Subject: "CN=surehook", NotAfter: at(100_000),
			Material: &hook.Material{ID: "m1", CA: "-----BEGIN CERTIFICATE-----", Certificate: "-----BEGIN CERTIFICATE-----", Sealed: secret},
		},
		Retry:   hook.RetryPolicy{Schedule: []time.Duration{time.Second, time.Minute}, Jitter: hook.JitterEqual},
		RetryOn: []int{404}, GiveUpOn: []int{501}, Timeout: 11 * time.Second, MaxAge: 49 * time.Hour, MaxRetryAfter: 2 * time.Hour, RatePerSecond: 12.5, MaxInFlight: 3,
		Circuit:  hook.CircuitSettings{Failures: 4, Rate: 0.25, Minimum: 20, Cooldown: 90 * time.Second, MaxCooldown: 2 * time.Hour},
		Coalesce: hook.Coalescing{Window: 5 * time.Second, MaxEvents: 50, MaxBytes: 64 << 10}, AutoDisable: true, RecordHeaders: true,
		Profiles: hook.ProfilesNamed(hook.ProfileStandard), Region: "us-east-1", Schemes: []hook.Scheme{hook.SchemeV1, hook.SchemeV1a},
		Secrets: []hook.Secret{
			{Scheme: hook.SchemeV1, Sealed: secret, CreatedAt: at(1), ExpiresAt: at(2000)},
			{Scheme: hook.SchemeV1a, Sealed: secret, Public: "whpk_AA==", CreatedAt: at(2)},
		},
		Status: hook.StatusPaused, Reason: hook.ReasonManual, StatusSince: at(3), CreatedAt: at(1), UpdatedAt: at(4),
	}.Sharded(4).Sharded(2)
	plain := func(id hook.EndpointID, change func(*hook.Endpoint)) hook.Endpoint {
		e := hook.Endpoint{
			ID: id, Tenant: tenant, URL: "https://example.com/" + string(id), EventTypes: []string{"*"},
			Retry: hook.RetryPolicy{Preset: "standard"}, Timeout: hook.DefaultTimeout, MaxAge: hook.DefaultMaxAge, Profiles: hook.ProfilesNamed(hook.ProfileStandard),
			Schemes: []hook.Scheme{hook.SchemeV1}, Status: hook.StatusActive, StatusSince: at(5), CreatedAt: at(5), UpdatedAt: at(5),
		}.Sharded(1)
		change(&e)
		return e
	}
	return []hook.Endpoint{
		filled(e),
		plain(second, func(e *hook.Endpoint) {
			e.Envelope, e.OnFailure = hook.EnvelopeThin, hook.OnFailureSkip
			e.Profiles, e.Fixed, e.Auth = []hook.SignatureProfile{{Name: hook.ProfileClassic}, {Name: "own", Signed: "{timestamp}.{body}", Algorithm: "sha512", Encoding: "base64", Key: "text", Prefix: "v1=", Separator: ",", Headers: map[string]string{"X-Own": "{signature} {timestamp}"}}}, true, hook.Auth{Type: hook.AuthBasic, Username: "surehook", Sealed: secret}
			e.Retry = hook.RetryPolicy{
				Exponential: hook.Exponential{Base: 1500 * time.Millisecond, Factor: 1.7, Cap: time.Hour, Attempts: 8}, Jitter: hook.JitterFull,
			}
		}),
		plain(third, func(e *hook.Endpoint) {
			e.Envelope, e.Transformation = hook.EnvelopeStandard, "{}"
			e.Status, e.Reason, e.Auth = hook.StatusDisabled, hook.ReasonGone, hook.Auth{Type: hook.AuthBearer, Sealed: secret}
			e.Retry = hook.RetryPolicy{Schedule: []time.Duration{time.Second}, Jitter: hook.JitterProportional}
		}),
		plain(fourth, func(e *hook.Endpoint) {
			e.Destination = hook.Destination{Type: "sqs", Settings: map[string]string{"role_arn": "arn:aws:iam::111122223333:role/surehook/o"}, ExternalID: "X4"}
			e.Retry = hook.RetryPolicy{Schedule: []time.Duration{time.Second}, Jitter: hook.JitterNone}
		}),
		plain(fifth, func(e *hook.Endpoint) {
			e.Destination = hook.Destination{Type: "eventbridge", Settings: map[string]string{"role_arn": "arn:aws:iam::111122223333:role/surehook/o", "source": "shop"}, ExternalID: "X5"}
		}),
	}
}

// event returns event n.
func event(n int, targets ...hook.Target) hook.Event {
	key := fmt.Sprintf("order-%d", n)
	return hook.Event{
		ID: hook.KeyedEventID(tenant, key), Tenant: tenant, Type: "order.paid", Payload: fmt.Appendf(nil, `{"order": %d}`, n),
		TraceParent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", IdempotencyKey: key, Targets: targets,
		AcceptedAt: at(10 + n), ExpiresAt: gone(), Nonce: fmt.Sprintf("post-%d", n),
	}
}

// inOrder returns the event with a number in the sequence of first.
func inOrder(e hook.Event) hook.Event {
	e.OrderingKey, e.Numbers = "customer-7", map[hook.EndpointID]int64{first: 5}
	return e
}

// sequence returns a sequence whose head is event n, and the place of another event behind it.
func sequence(n int) (order.Sequence, order.Place) {
	e := event(n, target())
	ref, _ := e.Ref(first, 1)
	return order.Sequence{
		ID: order.ID{Endpoint: first, Key: "customer-7"}, Tenant: tenant, Last: 9, Head: 7, Member: ref, TurnAt: at(50), Delivered: 4, MovedBy: 6, Retention: 2 * hook.MinRetention, LookAt: at(58),
	}, order.Place{Number: 8, Delivery: ref, Tenant: tenant, GivenAt: at(51), ExpiresAt: gone()}
}

// large returns an event whose payload is worth compressing.
func large(e hook.Event) hook.Event {
	e.Payload = fmt.Appendf(nil, `{"order": %q}`, bytes.Repeat([]byte("4711 "), 400))
	return e
}

// outcome returns the outcome of an attempt, in a request with another event.
func outcome(class hook.Class, d hook.DeliveryID) hook.Outcome {
	return hook.Outcome{
		Shape:   "cel-0123456789ab",
		Headers: map[string]string{"Server": "nginx"},
		Phases:  hook.Phases{DNS: time.Millisecond, Connect: 20 * time.Millisecond, TLS: 40 * time.Millisecond, FirstByte: 250 * time.Millisecond},
		Sent:    map[string]string{"X-Webhook-Attempt": "1", "X-Key": hook.Masked},
		Class:   class, Status: 503, Error: "the response is 503 Service Unavailable", URL: "https://example.com/hooks", Body: []byte("try later"),
		Region: "us-east-1", Duration: 321 * time.Millisecond, RetryAfter: 40 * time.Second, Stale: true,
		Batch: hook.NewBatch([]hook.DeliveryID{d, {Event: event(99).ID, Endpoint: d.Endpoint, Generation: 1}}, d),
	}
}

// recorded returns the delivery of event n in the state, with every field, and its last
// attempt.
func recorded(n int, state hook.State, class hook.Class) (hook.Delivery, *hook.Attempt) {
	e := event(n, target())
	d := hook.QueuedDelivery(e, target())
	d.State, d.Reason, d.Attempts, d.Stale, d.DecidedBy, d.Parks = state, hook.ReasonManual, 2, 2, "task", 3
	d.CreatedAt, d.UpdatedAt, d.NextAttemptAt, d.SweptAt = e.AcceptedAt.Add(time.Second), e.AcceptedAt.Add(time.Minute), e.AcceptedAt.Add(time.Hour), e.AcceptedAt.Add(50*time.Minute)
	d.Last = outcome(class, d.ID)
	d.Job, d.JobIndex, d.By, d.Note = job, n+1, caller, "by hand"
	return d, &hook.Attempt{
		Delivery: d.Ref(), Number: d.Attempts, Trigger: hook.TriggerRetry, StartedAt: d.UpdatedAt, NextAttemptAt: d.NextAttemptAt, ExpiresAt: gone(), Outcome: d.Last,
	}
}

// states are the states of records: a queued delivery has none.
func states() []hook.State {
	return []hook.State{hook.StateRetrying, hook.StateParked, hook.StateDelivered, hook.StateDead, hook.StateDiscarded, hook.StateCancelled}
}

// circuits returns a circuit in each state, and each class of speed.
func circuits() []admission.Record {
	full := admission.Record{
		Circuit: circuit.Circuit{
			State: circuit.Open, Generation: 3, Failures: 5, FailedIn: 2, Threshold: 4, StrainedAt: at(24), Successes: 2, Cooldown: 5 * time.Minute, OpenedAt: at(20), ProbeAt: at(25),
			Holder: "probe", LeaseUntil: at(22), ClosedAt: at(19),
		},
		Endpoint: first, Tenant: tenant, ThrottledUntil: at(30), Pace: admission.Pace{Rate: 7.25, Since: at(54), Refused: true}, Waiting: true, EmptySince: at(31), Wave: 4,
		Review: review.Flags{Slow: true, Fragile: true, Timeout: 5 * time.Second, Warned: review.WarnedOnce, WarnedAt: at(32), Certificate: "m1 30", Began: at(47), Judged: at(46), AtRiskUntil: at(49)},
		Tally:  drain.Tally{At: at(50), Partial: true, Retrying: 101, Dead: 102, Parked: drain.ByAge{8, 7, 6, 5, 4, 3, 2, 1}, Oldest: at(1), Newest: at(48)},
		Speed:  admission.Slow, SpeedAt: at(33), SeenAt: at(34), ProbeType: "order.paid", ProbedFrom: at(35), ProbeSentAt: at(51), LookFrom: at(36), LookAt: at(37), AttendAt: at(38),
	}
	full.Untold = admission.Untold{
		Earlier: admission.Transition{State: circuit.Open, Generation: 2, At: at(52), Failures: 5, Failed: 6, Attempts: 8, Cooldown: 10 * time.Second},
		Last:    admission.Transition{State: circuit.Closed, Generation: 3, At: at(53), OpenedAt: at(52)},
	}
	half, closed := full, admission.NewRecord(tenant, third)
	half.Endpoint, half.State, half.Speed, half.AttendAt = second, circuit.HalfOpen, admission.Fast, time.Time{} // in the list of looks
	closed.AttendAt = at(39)
	return []admission.Record{full, half, closed}
}

func limits(key string) admission.Limits {
	return admission.Limits{
		Most: 2,
		Leases: map[string]admission.Lease{
			key:       {Nonce: "task", Until: at(40), Run: "run"},
			key + "_": {Nonce: "other", Until: at(41)},
		},
		RateSlot: at(42).Add(123), Rate: 12.5, Score: 11, ScoreAt: at(43), Slots: 7, NarrowedAt: at(45), Late: 2, LateAt: at(44),
	}
}

// counts returns counts in every counter.
func counts() *stats.Counts {
	c := &stats.Counts{
		OK: 5, Failed: 3, Delivered: 4, First: 2, Passed: 1, FailedWith: 503, Waited: 2 * time.Second, Dead: 1, Queued: 300 * time.Millisecond,
	}
	for class := hook.ClassDelivered; int(class) < hook.Classes; class++ {
		c.Classes[class] = int(class)
	}
	for number := 1; number <= hook.MaxAttempts; number++ {
		c.Numbers[number] = number
	}
	for bucket := 0; bucket < latency.BucketCount; bucket += latency.BucketCount / 3 {
		c.Latency.AddN(bucket, 2)
	}
	for _, name := range []string{"order.paid", ""} {
		t := c.Types.Of(name)
		t.Succeeded[1], t.Failed[2], t.Dead = 4, 3, 1
		t.Latency.AddN(7, 6)
	}
	return c
}

func notification(n int) hook.Notification {
	return hook.Notification{
		Type: hook.NotificationFailing, Tenant: tenant, Endpoint: first, Delivery: hook.QueuedDelivery(event(0, target()), target()).ID, At: at(50 + n),
		Reason: "62 % of the deliveries of an hour are dead.", Figures: map[string]float64{"dead_rate": 0.62}, FirstLoss: at(90 + n), Key: fmt.Sprintf("failing-%d", n),
	}
}

func target() hook.Target { return hook.Target{Endpoint: first, Shards: 2} }

func change(n int, o hook.AuditOutcome) hook.AuditRecord {
	return hook.AuditRecord{
		ID: hook.AuditID(fmt.Sprintf("aud_%016d", n)), Tenant: tenant, At: at(60 + n), Key: caller, KeyName: "console", From: "192.0.2.1",
		Action: "endpoint.change", Target: string(first), Request: []byte(`{"rate_per_second":12.5}`),
		Changes: []byte(`{"rate_per_second":{"new":12.5,"old":0}}`), Outcome: o, Code: "conflict", ExpiresAt: gone(),
	}
}

// replays returns a job in each state, and one of each cause.
func replays() []replay.Job {
	running := replay.Job{
		ID: job, Tenant: tenant, Terms: replay.Terms{Rate: 50, Limit: 7, Expected: 12, By: caller}, State: replay.JobRunning, CreatedAt: at(70), UpdatedAt: at(71), ExpiresAt: gone(),
		Filter: replay.Filter{
			Endpoint: first, State: hook.StateDead, Types: []string{"order.*"}, From: at(1), To: at(69),
			Class: replay.Cause(hook.ClassUnavailable), Status: 503, AddTo: second, DiedSince: at(2),
		},
		Selected: 9, Enqueued: 5, Skipped: 2, SkippedBy: map[replay.Skip]int{replay.SkipReplayed: 1, replay.SkipGone: 1}, Endpoint: first, Cursor: "position", Selects: true,
		Pending: []hook.DeliveryRef{hook.QueuedDelivery(event(0, target()), target()).Ref()}, NextAt: at(72), Chain: replay.Chain{Next: "next", Previous: "previous"},
	}
	ended, cancelled := running, running
	ended.ID, ended.State, ended.EndedAt, ended.Filter.Class, ended.Filter.Status = job[:len(job)-1]+"2", replay.JobFinished, at(73), replay.NoAttempt, 0
	cancelled.ID, cancelled.State, cancelled.EndedAt, cancelled.Filter.State = job[:len(job)-1]+"3", replay.JobCancelled, at(74), hook.StateParked
	discarding := cancelled
	discarding.ID, discarding.State, discarding.EndedAt, discarding.Filter, discarding.Action = job[:len(job)-1]+"4", replay.JobRunning, time.Time{}, replay.Filter{State: hook.StateDead}, replay.ActionDiscard
	all := []replay.Job{running, ended, cancelled, discarding}
	for c := range replay.NoAttempt {
		id := job[:len(job)-2] + hook.JobID(fmt.Sprintf("%02d", 50+c))
		all = append(all, replay.Job{ID: id, Tenant: tenant, State: replay.JobCancelled, ExpiresAt: gone(), Filter: replay.Filter{State: hook.StateDead, Class: c}})
	}
	return all
}

// erasures returns a job in each stage, each of a tenant of its own.
func erasures() (all []erasure.Erasure) {
	for stage := erasure.StageStop; stage <= erasure.StageDone; stage++ {
		all = append(all, erasure.Erasure{
			ID: hook.ErasureID(fmt.Sprintf("era_%016d", stage)), Tenant: hook.TenantID("erased-" + stage.String()), By: caller,
			CreatedAt: at(80), UpdatedAt: at(81), EndedAt: at(82), ExpiresAt: gone(), Stage: stage, Cursor: "position", Dirty: true, Passes: 2, NotBefore: at(83),
			Removed: erasure.Counts{Keys: 1, Endpoints: 2, Events: 3, Deliveries: 4, Attempts: 5, Replays: 6, Other: 7},
			Chain:   replay.Chain{Next: "next", Previous: "previous"},
		})
	}
	return all
}

func apiKey(n int) hook.APIKey {
	return hook.APIKey{
		ID: hook.KeyID(fmt.Sprintf("key_%016d", n)), Name: "console", Tenant: tenant, Scopes: []hook.Scope{hook.ScopeRead, hook.ScopeReplay},
		Hash: hook.HashKey(fmt.Sprintf("shk_%043d", n)), CreatedAt: at(90),
		Restriction: hook.Restriction{ExpiresAt: at(90_000), Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}},
	}
}

func link() hook.PortalLink {
	return hook.PortalLink{
		ID: "key_0000000000000009", Tenant: tenant, Scopes: []hook.Scope{hook.ScopeRead}, CreatedAt: at(91), ExpiresAt: at(92).Truncate(time.Second),
		CodeHash: hook.HashKey("code"), OpenUntil: at(93), KeyHash: hook.HashKey("shk_of_the_link"),
	}
}

func eventType(n int, v hook.Validation) hook.EventType {
	return hook.EventType{
		Name: fmt.Sprintf("order.%d", n), Description: "An order.", Group: "Orders", Schema: []byte(`{"type":"object"}`), Example: []byte(`{"order":1}`),
		Archived: true, Validation: v, CreatedAt: at(95), UpdatedAt: at(96),
	}
}

func tenantLimits() hook.TenantLimits {
	return hook.TenantLimits{EventsPerSecond: 100, DeliveriesPerEvent: 50, Endpoints: 400, ReplaysPerHour: 300, ChangesPerHour: 400, RetainFor: 30 * 24 * time.Hour}
}

package hook

import (
	"hash/fnv"
	"strconv"
	"time"
)

// MaxQueueDelay is the longest delay of a queued message: SQS allows 900 s.
const MaxQueueDelay = 15 * time.Minute

// Queue names a queue of tasks.
type Queue uint8

// The queues. Zero stands for one of those that deliver batches, in messages received from them; no task is sent to it.
const (
	QueueLive     Queue = iota + 1 // first attempts
	QueueRetry                     // later attempts
	QueueReplay                    // first attempts of replays
	QueueSlot                      // attempts that need an in-flight slot, one task per invocation; each has a share of its tenant
	QueueOverflow                  // the same without a share: the tenant's are in use, or the delivery was parked before
	QueueCoalesce                  // attempts of coalescing endpoints
)

// String returns the queue's name.
func (l Queue) String() string {
	return Names[Queue]{
		QueueLive: "live", QueueRetry: "retry", QueueReplay: "replay", QueueSlot: "slot", QueueOverflow: "overflow",
		QueueCoalesce: "coalesce",
	}.Of(l)
}

// Queues returns all queues.
func Queues() []Queue {
	return []Queue{QueueLive, QueueRetry, QueueReplay, QueueSlot, QueueOverflow, QueueCoalesce}
}

// BatchSize returns how many tasks an invocation receives at most.
func (l Queue) BatchSize() int {
	switch {
	case l.Single():
		return 1
	case l == QueueCoalesce:
		return MaxCoalesceEvents
	}
	return 10
}

// CoalesceGather is how long an invocation gathers tasks of the queue coalesce. The tasks of a
// window become visible within a second after its end, because the queue delays by whole
// seconds.
const CoalesceGather = 2 * time.Second

// Single reports whether an invocation receives one task of the queue. Such an invocation may
// take as long as the attempt without delaying another task.
func (l Queue) Single() bool { return l == QueueSlot || l == QueueOverflow }

// maxGroup is the longest name of a message group, in characters: SQS allows no more.
const maxGroup = 128

// groupBuckets is the number of message groups of a tenant: several, so that the queue is also
// fair within a deployment with one tenant, and few, so that a tenant with many endpoints does
// not count as many tenants.
const groupBuckets = 8

// Group returns the task's message group in a fair queue: the tenant, and one of 8 buckets of
// its endpoints. A fair queue ensures that a group with many messages in flight does not delay
// the other groups. Two tenants whose ids of 127 or 128 characters differ only at the end share
// their groups.
func (t Task) Group() string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(t.Delivery.Endpoint)) // a hash accepts every write
	bucket := "." + strconv.Itoa(int(h.Sum32()%groupBuckets))
	return string(t.Tenant[:min(len(t.Tenant), maxGroup-len(bucket))]) + bucket
}

// Task is the message or schedule for the next attempt of a delivery. Two tasks for the same
// attempt have different nonces. The record of the delivery has the nonce of the task that
// decided last, so that task, when received again, recognises its own decision, and any other
// task sees that it is outdated.
type Task struct {
	Delivery      DeliveryRef   `json:"delivery"`
	Tenant        TenantID      `json:"tenant"`
	Attempt       int           `json:"attempt"`
	Nonce         string        `json:"nonce"`
	Reserved      bool          `json:"reserved,omitempty"` // a rate slot is reserved for the task
	Slot          bool          `json:"slot,omitempty"`     // the sender claimed an in-flight slot for the task
	Probe         bool          `json:"probe,omitempty"`    // the task is the probe of the circuit: chosen by the breaker, or by the gate if nothing is parked
	ReplayRequest ReplayRequest `json:"replay,omitzero"`    // only in the first task of a replay
	Hops          int           `json:"hops,omitempty"`     // how often the task was sent on without an attempt
	Parks         int           `json:"parks,omitempty"`    // how often the delivery had been parked when the task was made
}

// NewTask returns a fresh task for the attempt with the number, of a delivery that was never
// parked.
func NewTask(tenant TenantID, d DeliveryRef, number int) Task {
	return Task{Delivery: d, Tenant: tenant, Attempt: number, Nonce: NewNonce()}
}

// NextTask returns a fresh task for the next attempt.
func (d Delivery) NextTask() Task {
	t := NewTask(d.Tenant, d.Ref(), d.Attempts+1)
	t.Parks = d.Parks
	return t
}

// MaxTestWaits is how often the task of a test event waits for an in-flight slot, a second each:
// as long as the attempts in flight may take.
const MaxTestWaits = int(MaxTimeout / time.Second)

// Test reports whether the task is that of a test event, whose attempts are made in their time,
// whatever else waits, and say nothing bad about the endpoint. Replays, and deliveries that were
// parked, are like those of other events.
func (t Task) Test() bool {
	return t.Delivery.Event.IsTest() && t.Delivery.Generation == 1 && t.Parks == 0 && t.Hops < MaxTestWaits
}

// MaxHops bounds the Hops of a healthy task, circuit check or job message. A message past the
// bound is logged and counted, but still sent, so no delivery is lost. Healthy messages stay
// far below it: a task waits for a rate slot in one hop, and moves to another queue in at most
// two; the longest cooldown, 24 h, takes 96 circuit checks of 15 minutes; the first message of
// a job waits for the job in at most 60 hops.
const MaxHops = 1000

// Encode returns the task as a message body.
func (t Task) Encode() (string, error) { return EncodeMessage(t, "task") }

// DecodeTask is the inverse of Encode. It also accepts a dead letter, and returns its
// DeadLetter.Task. Any other text gives CodeInvalid.
func DecodeTask(body string) (Task, error) {
	return DecodeMessage(body, "task", func(t *Task, wrong *Fields) {
		if t.Nonce == "" {
			if deadLetter, err := DecodeDeadLetter(body); err == nil {
				*t = deadLetter.Task()
			}
		}
		_, noTenant := ParseTenantID(string(t.Tenant))
		wrong.Refuse(noTenant != nil, "tenant", TenantRule)
		wrong.Refuse(t.Delivery.Generation < 1 || t.Delivery.Generation > MaxGeneration, "delivery", "is missing or out of range")
		wrong.Refuse(t.Attempt < 1 || t.Attempt > MaxRequests, "attempt", "is missing or out of range")
		wrong.Refuse(t.Nonce == "", "nonce", "is missing")
		wrong.Refuse(t.ReplayRequest.JobIndex < 0, "replay.slot", "is negative")
		wrong.Refuse(t.Parks < 0, "parks", "is negative")
		wrong.Refuse(t.Hops < 0, "hops", "is negative")
	})
}

// DeadLetter is the message in the dead-letters queue for a dead delivery.
type DeadLetter struct {
	Delivery   DeliveryRef `json:"delivery"`
	Tenant     TenantID    `json:"tenant"`
	Event      EventID     `json:"event"`
	Endpoint   EndpointID  `json:"endpoint"`
	EventType  string      `json:"event_type"`
	Reason     Reason      `json:"reason"`
	Attempts   int         `json:"attempts"`
	LastStatus int         `json:"last_status,omitempty"`
	LastClass  string      `json:"last_class,omitempty"`
	LastError  string      `json:"last_error,omitempty"`
	DiedAt     time.Time   `json:"died_at"`
}

// DeadLetterOf returns the dead letter of a dead delivery.
func DeadLetterOf(d Delivery) DeadLetter {
	deadLetter := DeadLetter{
		Delivery:   d.Ref(),
		Tenant:     d.Tenant,
		Event:      d.ID.Event,
		Endpoint:   d.ID.Endpoint,
		EventType:  d.EventType,
		Reason:     d.Reason,
		Attempts:   d.Attempts,
		LastStatus: d.Last.Status,
		LastError:  d.Last.Error,
		DiedAt:     d.UpdatedAt,
	}
	if d.Attempts > 0 {
		deadLetter.LastClass = d.Last.Class.String()
	}
	return deadLetter
}

// Encode returns the dead letter as a message body.
func (l DeadLetter) Encode() (string, error) { return EncodeMessage(l, "dead letter") }

// DecodeDeadLetter is the inverse of Encode. Any other text gives CodeInvalid.
func DecodeDeadLetter(body string) (DeadLetter, error) {
	return DecodeMessage(body, "dead letter", func(l *DeadLetter, wrong *Fields) {
		wrong.Refuse(l.Delivery.Generation == 0, "delivery", "is required")
		wrong.Refuse(l.DiedAt.IsZero(), "died_at", "is required")
	})
}

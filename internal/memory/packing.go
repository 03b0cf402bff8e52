package memory

import (
	"encoding/binary"
	"strings"
	"time"

	"surehook/internal/hook"
)

// packing writes the records of an event to one text, or reads the records back. A
// collection of garbage marks a text at once, but all parts of open records one by one. One
// list of fields serves both directions.
//
// The text is the length of the part before the data, the fields, and the data: the payload and the
// bodies. The fields of read records share memory, and no memory with the data: an erased
// body must not stay with the id of an event.
type packing struct {
	reading    bool
	buf, data  []byte // the written length and fields, and data
	rest, tail string // the fields and data that are still to be read
}

// pack returns the text of the records, and forgets them.
func (p *packing) pack(r *eventRecords) string {
	p.buf, p.data = append(p.buf[:0], make([]byte, lengthSize)...), p.data[:0]
	p.records(r)
	binary.LittleEndian.PutUint32(p.buf, uint32(len(p.buf))) //nolint:gosec // the records of an event have at most some megabytes
	p.buf = append(p.buf, p.data...)
	packed := string(p.buf)
	clear(p.buf)
	clear(p.data)
	return packed
}

// lengthSize is the size of the length at the start of the text.
const lengthSize = 4

// unpack returns the records of a text of pack.
func unpack(packed string) *eventRecords {
	fields := binary.LittleEndian.Uint32([]byte(packed[:lengthSize]))
	p := packing{reading: true, rest: strings.Clone(packed[lengthSize:fields]), tail: packed[fields:]}
	r := new(eventRecords)
	p.records(r)
	return r
}

func (p *packing) records(r *eventRecords) {
	p.event(&r.event)
	list(p, &r.deliveries, func(d **hook.Delivery) {
		if *d == nil {
			*d = new(hook.Delivery)
		}
		p.delivery(*d)
	})
	list(p, &r.attempts, p.attempt)
	p.time(&r.expiresAt)
}

func (p *packing) event(e *hook.Event) {
	text(p, &e.ID)
	text(p, &e.Tenant)
	text(p, &e.Type)
	p.bytes(&e.Payload)
	text(p, &e.TraceParent)
	text(p, &e.IdempotencyKey)
	list(p, &e.Targets, func(t *hook.Target) {
		text(p, &t.Endpoint)
		number(p, &t.Shards)
	})
	p.time(&e.AcceptedAt)
	p.time(&e.ExpiresAt)
	p.time(&e.ErasedAt)
	text(p, &e.Nonce)
}

func (p *packing) delivery(d *hook.Delivery) {
	p.id(&d.ID)
	number(p, &d.AcceptedAt)
	text(p, &d.Tenant)
	text(p, &d.EventType)
	number(p, &d.State)
	number(p, &d.Shard)
	p.bool(&d.Erased)
	text(p, &d.Reason)
	number(p, &d.Attempts)
	number(p, &d.Version)
	text(p, &d.Token)
	number(p, &d.Parks)
	p.time(&d.CreatedAt)
	p.time(&d.UpdatedAt)
	p.time(&d.NextAttemptAt)
	p.time(&d.SweptAt)
	p.time(&d.ExpiresAt)
	p.outcome(&d.Last)
	text(p, &d.Replayed.By)
	text(p, &d.Replayed.Job)
	number(p, &d.Replayed.JobIndex)
	p.bool(&d.Replayed.Force)
	p.bool(&d.Replayed.Redrive)
	number(p, &d.Replayed.Generation)
	p.time(&d.Replayed.At)
	text(p, &d.Job)
	number(p, &d.JobIndex)
	text(p, &d.By)
	text(p, &d.Note)
}

func (p *packing) attempt(a *hook.Attempt) {
	p.id(&a.Delivery.DeliveryID)
	number(p, &a.Delivery.AcceptedAt)
	number(p, &a.Delivery.Shard)
	number(p, &a.Number)
	text(p, &a.Trigger)
	p.time(&a.StartedAt)
	p.time(&a.NextAttemptAt)
	p.time(&a.ExpiresAt)
	p.outcome(&a.Outcome)
}

func (p *packing) outcome(o *hook.Outcome) {
	number(p, &o.Class)
	number(p, &o.Status)
	text(p, &o.Error)
	text(p, &o.URL)
	p.bytes(&o.Body)
	text(p, &o.Region)
	number(p, &o.Duration)
	number(p, &o.RetryAfter)
	several := o.Batch != nil
	p.bool(&several)
	if !several {
		return
	}
	if o.Batch == nil {
		o.Batch = new(hook.Batch)
	}
	text(p, &o.Batch.ID)
	number(p, &o.Batch.Size)
	p.id(&o.Batch.Leader)
	list(p, &o.Batch.Members, p.id)
}

func (p *packing) id(id *hook.DeliveryID) {
	text(p, &id.Event)
	text(p, &id.Endpoint)
	number(p, &id.Generation)
}

// time keeps milliseconds, the precision of stored times.
func (p *packing) time(t *time.Time) {
	at := t.UnixMilli()
	number(p, &at)
	*t = time.UnixMilli(at).UTC()
}

func (p *packing) bool(b *bool) {
	n := 0
	if *b {
		n = 1
	}
	number(p, &n)
	*b = n == 1
}

// bytes writes the length plus 1, or 0 for nil, and moves the bytes to the data.
func (p *packing) bytes(b *[]byte) {
	n := len(*b) + 1
	if *b == nil {
		n = 0
	}
	number(p, &n)
	switch {
	case !p.reading:
		p.data = append(p.data, *b...)
	case n > 0:
		*b = []byte(p.tail[:n-1])
		p.tail = p.tail[n-1:]
	}
}

func number[T ~int | ~int16 | ~int64 | ~uint8](p *packing, n *T) {
	if !p.reading {
		p.buf = binary.AppendVarint(p.buf, int64(*n))
		return
	}
	value, size := binary.Varint([]byte(p.rest[:min(len(p.rest), binary.MaxVarintLen64)]))
	*n = T(value)
	p.rest = p.rest[size:]
}

func text[T ~string](p *packing, s *T) {
	n := len(*s)
	number(p, &n)
	if !p.reading {
		p.buf = append(p.buf, *s...)
		return
	}
	*s = T(p.rest[:n])
	p.rest = p.rest[n:]
}

// list writes the length plus 1, or 0 for nil, and the elements.
func list[T any](p *packing, all *[]T, element func(*T)) {
	n := len(*all) + 1
	if *all == nil {
		n = 0
	}
	number(p, &n)
	if p.reading && n > 0 {
		*all = make([]T, n-1)
	}
	for i := range *all {
		element(&(*all)[i])
	}
}

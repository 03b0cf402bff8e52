package hook

import (
	"bytes"
	"hash/fnv"
	"strconv"
	"strings"
)

// MaxShards bounds the shards of an endpoint's deliveries. One partition of the table takes about
// 500 deliveries a second.
const MaxShards = 16

// DeliveryRef is the key of a delivery's record: records are stored by endpoint, shard and time
// of acceptance. When an idempotency key is used again after its event expired, the DeliveryID
// is the same as before, but the DeliveryRef differs. Refs are comparable. String returns the
// id alone.
type DeliveryRef struct {
	DeliveryID

	AcceptedAt int64 // of the stored event, in milliseconds since 1970
	Shard      int   // from 0
}

// ShardOf returns the shard of the id, from 0; 0 for fewer than 2 shards. The two halves of the
// hash are combined, because the low bits of FNV-1a depend only on the low bits of the input.
// The function is part of the layout of the table and must not change.
func ShardOf[ID ~string](id ID, shards int) int {
	if shards <= 1 {
		return 0
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // never fails
	sum := h.Sum32()
	return int(sum>>16^sum) % shards
}

// Successor returns the ref of the next generation.
func (r DeliveryRef) Successor() DeliveryRef {
	r.Generation++
	return r
}

// Predecessor returns the ref of the previous generation; ok is false for the
// first generation.
func (r DeliveryRef) Predecessor() (before DeliveryRef, ok bool) {
	r.Generation--
	return r, r.Generation > 0
}

// MarshalText returns <id>@<accepted at>, and /<shard> after shard 0.
func (r DeliveryRef) MarshalText() ([]byte, error) {
	text := append(append(make([]byte, 0, maxRef), r.String()...), '@')
	text = strconv.AppendInt(text, r.AcceptedAt, 10)
	if r.Shard != 0 {
		text = strconv.AppendInt(append(text, '/'), int64(r.Shard), 10)
	}
	return text, nil
}

// maxRef is a sufficient capacity for the text of a DeliveryRef.
const maxRef = 96

// UnmarshalText is the inverse of MarshalText. It takes no other text for a ref, such as one with a
// zero in front of a number.
func (r *DeliveryRef) UnmarshalText(text []byte) error {
	id, key, _ := strings.Cut(string(text), "@")
	parsed, err := ParseDeliveryID(id)
	if err != nil {
		return err
	}
	accepted, shard, _ := strings.Cut(key, "/")
	ref := DeliveryRef{DeliveryID: parsed}
	ref.AcceptedAt, _ = strconv.ParseInt(accepted, 10, 64)
	ref.Shard, _ = strconv.Atoi(shard)
	again, _ := ref.MarshalText()
	if ref.AcceptedAt <= 0 || ref.Shard < 0 || ref.Shard >= MaxShards || !bytes.Equal(again, text) {
		return NotFound("delivery")
	}
	*r = ref
	return nil
}

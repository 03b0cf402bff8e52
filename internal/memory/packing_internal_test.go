package memory

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook/internal/hook"
)

// Every field comes back: a field that the list of fields lacks fails here.
func TestPacking_keepsAllFields(t *testing.T) {
	t.Parallel()

	var p packing
	for seed := range uint64(1000) {
		want := new(eventRecords)
		f := filler{rand.New(rand.NewPCG(seed, 0))}
		f.fill(reflect.ValueOf(&want.event).Elem())
		f.fill(reflect.ValueOf(&want.deliveries).Elem())
		f.fill(reflect.ValueOf(&want.attempts).Elem())
		f.fill(reflect.ValueOf(&want.expiresAt).Elem())
		got := unpack(p.pack(want))
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: the records changed (-want +got):\n%s", seed, cmp.Diff(want, got, cmp.AllowUnexported(eventRecords{})))
		}
	}
}

// filler fills values at random, zero values and empty lists included.
type filler struct{ *rand.Rand }

func (f filler) fill(v reflect.Value) {
	zero := f.IntN(4) == 0
	switch at, ok := v.Addr().Interface().(*time.Time); {
	case ok && !zero:
		*at = time.UnixMilli(f.Int64N(1e13)).UTC()
		return
	case v.Kind() == reflect.Struct && !ok:
		for i := range v.NumField() {
			f.fill(v.Field(i))
		}
		return
	case zero:
		return
	}
	switch v.Kind() { //nolint:exhaustive // the kinds of the records
	case reflect.String:
		v.SetString(string(f.bytes()))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int16, reflect.Int64:
		n := int64(f.Uint64()) >> f.IntN(64)
		v.SetInt(n)
		if v.Int() != n {
			v.SetInt(int64(int16(n)))
		}
	case reflect.Uint8:
		v.SetUint(f.Uint64N(256))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		n := f.IntN(4)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			f.fill(v.Index(i))
		}
	default:
		panic("no value for " + v.Type().String())
	}
}

func (f filler) bytes() []byte {
	b := make([]byte, f.IntN(300))
	for i := range b {
		b[i] = byte(f.Uint64())
	}
	return b
}

func BenchmarkPacking(b *testing.B) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	e := hook.Event{
		ID: "evt_01k4esq587grdgq1a74fmzr4ed", Tenant: "acme", Type: "order.paid", Payload: make([]byte, 500), AcceptedAt: now, ExpiresAt: now.Add(time.Hour),
		Targets: []hook.Target{{Endpoint: "ep_01k4esq587grdgq1a74fmzr4ed", Shards: 1}}, Nonce: hook.NewNonce(),
	}
	d := hook.QueuedDelivery(e, e.Targets[0])
	d.State, d.Attempts, d.Token = hook.StateDelivered, 1, hook.NewNonce()
	d.Last = hook.Outcome{Class: hook.ClassDelivered, Status: 200, URL: "https://example.com/hooks", Duration: time.Millisecond}
	r := &eventRecords{event: e, deliveries: []*hook.Delivery{&d}, expiresAt: e.ExpiresAt}
	var p packing
	packed := p.pack(r)
	b.Run("pack", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			packed = p.pack(r)
		}
	})
	b.Run("unpack", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			unpack(packed)
		}
	})
}

package hook_test

import (
	"testing"

	"go.jetify.com/typeid"

	"surehook.example/surehook/internal/hook"
)

// The library by the authors of TypeID must agree.
func FuzzParseEventID(f *testing.F) {
	for _, text := range []string{
		"evt_01jd3m5k8zf4v9q2w7x6y5t4r3", "evt_00000000000000000000000000", "evt_7zzzzzzzzzzzzzzzzzzzzzzzzz",
		"evt_80000000000000000000000000", "evt_01jd3m5k8zf4v9q2w7x6y5t4r", "evt_01jd3m5k8zf4v9q2w7x6y5t4r33",
		"evt_01jd3m5k8zf4v9q2w7x6y5t4ru", "evt_01JD3M5K8ZF4V9Q2W7X6Y5T4R3", "evt_01jd3m5k8zf4v9q2w7x6y5t4r\n", "rpl_01jd3m5k8zf4v9q2w7x6y5t4r3",
		"evt_", "", "evt", "evt__01jd3m5k8zf4v9q2w7x6y5t4r3",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, bad := typeid.FromString(text)
		valid := bad == nil && want.Prefix() == "evt"
		id, err := hook.ParseEventID(text)
		if (err == nil) != valid {
			t.Fatalf("ParseEventID(%q) = %v; want valid: %t", text, err, valid)
		}
		got, ok := id.UUID()
		if ok != valid || valid && got != [16]byte(want.UUIDBytes()) {
			t.Errorf("EventID(%q).UUID() = %x, %t; want %x, %t", id, got, ok, want.UUIDBytes(), valid)
		}
	})
}

func TestNewEventID_isTypeID(t *testing.T) {
	t.Parallel()

	for range 100 {
		id := hook.NewEventID()
		parsed, err := typeid.FromString(string(id))
		if err != nil || parsed.Prefix() != "evt" || parsed.UUIDBytes()[6]>>4 != 7 {
			t.Errorf("NewEventID() = %s, %v; want evt_ and the suffix of a UUIDv7", id, err)
		}
	}
}

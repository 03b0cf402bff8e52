package hook_test

import (
	"fmt"
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
)

const (
	someEvent    hook.EventID    = "evt_01jd3m5k8zf4v9q2w7x6y5t4r3"
	someEndpoint hook.EndpointID = "ep_0123456789abcdef"
)

func TestNewEventID_SortsByTime(t *testing.T) {
	t.Parallel()

	// A UUIDv7 begins with 48 bits of milliseconds: 10 characters of 5 bits, with 2 bits of padding.
	const milliseconds = len("evt_") + 10
	seen := make(map[hook.EventID]bool)
	var last string
	for range 1000 {
		id := hook.NewEventID()
		if seen[id] || string(id[:milliseconds]) < last {
			t.Fatalf("NewEventID() = %s after %s; want a new id, not earlier", id, last)
		}
		if _, err := hook.ParseEventID(string(id)); err != nil {
			t.Fatalf("ParseEventID(%s) = %v", id, err)
		}
		seen[id], last = true, string(id[:milliseconds])
	}
}

func TestKeyedEventID(t *testing.T) {
	t.Parallel()

	first := hook.KeyedEventID("acme", "order-1")
	tests := []struct {
		name   string
		tenant hook.TenantID
		key    string
		same   bool
	}{
		{name: "the same tenant and key give the same id", tenant: "acme", key: "order-1", same: true},
		{name: "another key gives another id", tenant: "acme", key: "order-2"},
		{name: "another tenant gives another id", tenant: "acme2", key: "order-1"},
		{name: "tenant and key are separated", tenant: "acmeorder-", key: "1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got := hook.KeyedEventID(tt.tenant, tt.key)
			if (got == first) != tt.same {
				t.Errorf("KeyedEventID(%s, %s) = %s; the first was %s; want same: %t", tt.tenant, tt.key, got, first, tt.same)
			}
			if _, err := hook.ParseEventID(string(got)); err != nil {
				t.Errorf("ParseEventID(%s) = %v", got, err)
			}
		})
	}
}

func TestParseDeliveryID(t *testing.T) {
	t.Parallel()

	const event, endpoint = "01jd3m5k8zf4v9q2w7x6y5t4r3", "0123456789abcdef"
	tests := []struct {
		name string
		in   string
		ok   bool
	}{
		{name: "the first generation", in: "dlv_" + event + "_" + endpoint + "_1", ok: true},
		{name: "the last generation", in: "dlv_" + event + "_" + endpoint + "_9999", ok: true},
		{name: "generation zero", in: "dlv_" + event + "_" + endpoint + "_0", ok: false},
		{name: "a generation too far", in: "dlv_" + event + "_" + endpoint + "_10000", ok: false},
		{name: "a generation with a leading zero", in: "dlv_" + event + "_" + endpoint + "_01", ok: false},
		{name: "a signed generation", in: "dlv_" + event + "_" + endpoint + "_+1", ok: false},
		{name: "no generation", in: "dlv_" + event + "_" + endpoint, ok: false},
		{name: "another prefix", in: "evt_" + event + "_" + endpoint + "_1", ok: false},
		{name: "a short endpoint", in: "dlv_" + event + "_" + endpoint[1:] + "_1", ok: false},
		{name: "a letter outside of base32", in: "dlv_" + event + "_" + strings.Replace(endpoint, "a", "u", 1) + "_1", ok: false},
		{name: "upper case", in: "dlv_" + strings.ToUpper(event) + "_" + endpoint + "_1", ok: false},
		{name: "an event past 128 bits", in: "dlv_8" + event[1:] + "_" + endpoint + "_1", ok: false},
		{name: "nothing", in: "", ok: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, err := hook.ParseDeliveryID(tt.in)
			if (err == nil) != tt.ok {
				t.Fatalf("ParseDeliveryID(%q) = %v, %v; want ok: %t", tt.in, got, err, tt.ok)
			}
			if err != nil && hook.CodeOf(err) != hook.CodeNotFound {
				t.Errorf("ParseDeliveryID(%q) has code %s; want not_found", tt.in, hook.CodeOf(err))
			}
			if err == nil && got.String() != tt.in {
				t.Errorf("ParseDeliveryID(%q).String() = %q", tt.in, got)
			}
		})
	}
}

func FuzzParseDeliveryID(f *testing.F) {
	f.Add(hook.DeliveryID{Event: someEvent, Endpoint: someEndpoint, Generation: 12}.String())
	f.Add("dlv___1")
	f.Fuzz(func(t *testing.T, s string) {
		id, err := hook.ParseDeliveryID(s)
		if err == nil && id.String() != s {
			t.Errorf("ParseDeliveryID(%q).String() = %q", s, id)
		}
	})
}

func FuzzDecodeTask(f *testing.F) {
	body, err := hook.NewTask("acme", refOf(someEvent, someEndpoint, 1), 3).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	requested := hook.Task{
		Delivery: refOf(someEvent, someEndpoint, 2), Tenant: "acme", Attempt: 1, Nonce: "n",
		ReplayRequest: hook.ReplayRequest{By: "key_0123456789abcdef", Job: "rpl_01jd3m5k8zf4v9q2w7x6y5t4r3", JobIndex: 99_999, Force: true, Redrive: true},
	}
	if body, err = requested.Encode(); err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	for _, generation := range []int{1, hook.MaxGeneration} {
		deadLetter := someDeadLetter
		deadLetter.Delivery.Generation = generation
		if body, err = deadLetter.Encode(); err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Add(`{"delivery":"","attempt":1}`)
	f.Add(`null`)
	// Texts close to an encoded task with four fields, which has a decoder of its own.
	for _, form := range []string{
		`{"delivery":"%s","tenant":"acme","attempt":03,"nonce":"0123456789abcdef"}`,
		`{"delivery":"%s","tenant":"acme","attempt":+3,"nonce":"0123456789abcdef"}`,
		`{"delivery":"%s","tenant":"acme","attempt":3,"nonce":"0123456789abcdef","nonce":"n"}`,
		`{"delivery":"%s","tenant":"\u0061cme","attempt":3,"nonce":"0123456789abcdef"}`,
		`{"delivery":"%s","tenant":"acme","attempt":3,"nonce":"0123456789abcdef"} `,
	} {
		f.Add(fmt.Sprintf(form, "dlv_01jd3m5k8zf4v9q2w7x6y5t4r3_0123456789abcdef_1@1772600767008"))
	}
	f.Fuzz(func(t *testing.T, body string) {
		task, err := hook.DecodeTask(body)
		// With a space in front, the JSON library decodes the text instead: both decoders must
		// agree.
		if other, otherErr := hook.DecodeTask(" " + body); other != task || (err == nil) != (otherErr == nil) {
			t.Errorf("DecodeTask(%s) = %v, %v; the library decodes %v, %v", body, task, err, other, otherErr)
		}
		if err != nil {
			return
		}
		again, err := task.Encode()
		if err != nil {
			t.Fatalf("Encode(%v) = %v", task, err)
		}
		if back, err := hook.DecodeTask(again); err != nil || back != task {
			t.Errorf("DecodeTask(%s) = %v, %v; want %v", again, back, err, task)
		}
	})
}

// Tasks on the queues and in schedules may outlive a release.
func TestDecodeTask_IgnoresFieldsOfOldReleases(t *testing.T) {
	t.Parallel()

	const body = `{"delivery":"dlv_01jd3m5k8zf4v9q2w7x6y5t4r3_0123456789abcdef_1@1772600767008/3","tenant":"acme","attempt":2,"nonce":"n","reserved":true,"delays":3}`
	want := hook.Task{
		Delivery: hook.DeliveryRef{
			DeliveryID: hook.DeliveryID{Event: "evt_01jd3m5k8zf4v9q2w7x6y5t4r3", Endpoint: "ep_0123456789abcdef", Generation: 1},
			AcceptedAt: 1772600767008, Shard: 3,
		},
		Tenant: "acme", Attempt: 2, Nonce: "n", Reserved: true,
	}
	if task, err := hook.DecodeTask(body); err != nil || task != want {
		t.Errorf("DecodeTask(%s) = %+v, %v; want %+v", body, task, err, want)
	}
}

func TestDecodeTask_Invalid(t *testing.T) {
	t.Parallel()

	const delivery = `"delivery":"dlv_01jd3m5k8zf4v9q2w7x6y5t4r3_0123456789abcdef_1@1772600767008"`
	tests := []struct{ name, body string }{
		{name: "no JSON", body: `hello`},
		{name: "null", body: `null`},
		{name: "no delivery", body: `{"tenant":"acme","attempt":1,"nonce":"n"}`},
		{name: "no attempt", body: `{` + delivery + `,"tenant":"acme","nonce":"n"}`},
		{name: "an attempt past MaxRequests", body: `{` + delivery + `,"tenant":"acme","attempt":23,"nonce":"n"}`},
		{name: "no nonce", body: `{` + delivery + `,"tenant":"acme","attempt":1}`},
		{name: "no place", body: `{"delivery":"dlv_01jd3m5k8zf4v9q2w7x6y5t4r3_0123456789abcdef_1","tenant":"acme","attempt":1,"nonce":"n"}`},
		{name: "a shard out of range", body: `{"delivery":"dlv_01jd3m5k8zf4v9q2w7x6y5t4r3_0123456789abcdef_1@1/16","tenant":"acme","attempt":1,"nonce":"n"}`},
		{name: "no tenant", body: `{` + delivery + `,"attempt":1,"nonce":"n"}`},
		{name: "a dead letter", body: `{` + delivery + `,"tenant":"acme","reason":"rejected","attempts":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if task, err := hook.DecodeTask(tt.body); hook.CodeOf(err) != hook.CodeInvalid || err == nil {
				t.Errorf("DecodeTask(%s) = %v, %v; want an invalid error", tt.body, task, err)
			}
		})
	}
}

// TestTask_Group checks that every tenant has a message group that SQS accepts.
func TestTask_Group(t *testing.T) {
	t.Parallel()

	for _, tenant := range []hook.TenantID{"acme", "auth0|5f7c:a@b+c", hook.TenantID(strings.Repeat("t", 126)), hook.TenantID(strings.Repeat("t", 127)), hook.TenantID(strings.Repeat("t", 128))} {
		group := hook.NewTask(tenant, hook.DeliveryRef{DeliveryID: hook.DeliveryID{Event: someEvent, Endpoint: someEndpoint, Generation: 1}}, 1).Group()
		head, bucket := group[:len(group)-2], group[len(group)-2:]
		if len(group) > 128 || !strings.HasPrefix(string(tenant), head) || len(tenant) <= 126 && head != string(tenant) || bucket[0] != '.' || bucket[1] < '0' || bucket[1] > '7' {
			t.Errorf("Group of tenant %q = %q (%d characters); want the tenant and a bucket in at most 128", tenant, group, len(group))
		}
	}
}

func TestParseTenantID(t *testing.T) {
	t.Parallel()

	for s, ok := range map[string]bool{
		"acme": true, "a.b": true, "...": true, "auth0|5f7c": true, "org:acme@example.com": true, "a+b": true, "|": true, strings.Repeat("a", 128): true,
		"": false, ".": false, "..": false, "a/b": false, "a b": false, strings.Repeat("a", 129): false, "*": false, "a#b": false, "a%7Cb": false, "a|ü": false,
	} {
		if _, err := hook.ParseTenantID(s); (err == nil) != ok {
			t.Errorf("ParseTenantID(%q) = %v; want valid: %t", s, err, ok)
		}
	}
}

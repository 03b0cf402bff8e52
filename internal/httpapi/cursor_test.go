package httpapi_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// list is a list that has pages.
type list struct {
	caller hook.Principal
	path   string // with query, without limit
	scope  string // scope of the cursors, as in package page
	cursor string // of the page after the first
}

// page requests a page of the list with exactly this cursor.
func (l list) page(t *testing.T, b *bundle, cursor string) (status int, body string) {
	t.Helper()

	mark := "?"
	if strings.Contains(l.path, "?") {
		mark = "&"
	}
	w := b.do(t, l.caller, "GET", l.path+mark+"limit=1&cursor="+url.QueryEscape(cursor), "")
	return w.Code, w.Body.String()
}

// lists returns all lists: of two tenants, with two endpoints and two events each. Those of acme
// are under their name, those of globex with a mark.
func lists(t *testing.T, b *bundle) map[string]list {
	t.Helper()

	all := map[string]list{
		"keys":    {caller: admin, path: "/v1/keys", scope: "keys"},
		"tenants": {caller: admin, path: "/v1/tenants", scope: "tenants\x00"},
	}
	for tenant, caller := range map[hook.TenantID]hook.Principal{"acme": owner, "globex": rival} {
		at := "/v1/tenants/" + string(tenant)
		add := func(name, path, scope string) {
			all[string(tenant)+"'s "+name] = list{caller: caller, path: at + path, scope: scope}
		}
		for range 2 {
			get[object](t, b, caller, 201, "POST", at+"/endpoints", `{"url":"https://example.com/"}`)
			get[object](t, b, admin, 201, "POST", "/v1/keys", fmt.Sprintf(`{"name":"a","tenant":%q,"scopes":["read"]}`, tenant))
		}
		add("endpoints", "/endpoints", "endpoints\x00"+string(tenant))
		add("slow endpoints", "/endpoints?slow=true", "endpoints\x00"+string(tenant)+"\x00slow\x00true")
		b.review(t, tenant)
		b.job(t, tenant)
		b.job(t, tenant)
		add("deliveries", "/deliveries", "deliveries\x00"+string(tenant)+strings.Repeat("\x00", 7))
		add("dead letters", "/dead-letters", "deliveries\x00"+string(tenant)+"\x00\x00dead"+strings.Repeat("\x00", 5))
		add("events", "/events", "events\x00"+string(tenant)+strings.Repeat("\x00", 4))
		add("replays", "/replays", "replays\x00"+string(tenant))
		for i := range 4 {
			posted := idOf(t, get[object](t, b, caller, 202, "POST", at+"/events", `{"event_type":"a","payload":1}`))
			event, err := b.store.Event(t.Context(), hook.EventID(posted))
			if err != nil {
				t.Fatalf("Event = %v", err)
			}
			for _, target := range event.Targets {
				b.fail(t, hook.QueuedDelivery(event, target), []hook.State{hook.StateRetrying, hook.StateDead}[i%2])
			}
			if i >= 2 {
				continue
			}
			add(fmt.Sprint("deliveries of event ", i), "/events/"+posted+"/deliveries", "deliveries\x00"+string(tenant)+"\x00"+posted)
			add(fmt.Sprint("attempts of event ", i), "/events/"+posted+"/attempts", "attempts\x00"+string(tenant)+"\x00"+posted)
			endpoint := string(event.Targets[i].Endpoint)
			add(fmt.Sprint("decisions about endpoint ", i), "/endpoints/"+endpoint+"/decisions", "decisions\x00"+string(tenant)+"\x00"+endpoint)
			for _, state := range []string{"retrying", "dead"} {
				add(fmt.Sprint(state, " deliveries of endpoint ", i), "/endpoints/"+endpoint+"/deliveries?state="+state,
					"deliveries\x00"+string(tenant)+"\x00"+endpoint+"\x00"+state+"\x00\x00\x00\x00\x00")
			}
		}
	}
	for name, l := range all {
		first := get[struct {
			NextCursor *string `json:"next_cursor"`
		}](t, b, l.caller, 200, "GET", l.path+map[bool]string{true: "&", false: "?"}[strings.Contains(l.path, "?")]+"limit=1", "")
		if first.NextCursor == nil {
			t.Fatalf("the list of %s has one page; want two", name)
		}
		l.cursor = *first.NextCursor
		all[name] = l
	}
	return all
}

// review makes a review find all endpoints of the tenant slow, twice.
func (b *bundle) review(t *testing.T, tenant hook.TenantID) {
	t.Helper()

	all, err := b.store.Endpoints(t.Context(), tenant)
	if err != nil {
		t.Fatalf("Endpoints = %v", err)
	}
	for _, e := range all {
		r := admission.NewRecord(tenant, e.ID)
		r.Review.Slow = true
		if err := b.store.SaveCircuit(t.Context(), r); err != nil {
			t.Fatalf("SaveCircuit = %v", err)
		}
		for i := range 2 {
			at := b.now.Add(time.Duration(i) * time.Minute)
			n := hook.Notification{
				Type: hook.NotificationSlow, Tenant: tenant, Endpoint: e.ID, At: at, Reason: "Slow.",
				Figures: map[string]float64{"p95_ms": 2210}, Key: at.String() + string(e.ID),
			}
			if err := b.store.PutNotification(t.Context(), n); err != nil {
				t.Fatalf("PutNotice = %v", err)
			}
		}
	}
}

// fail records a failed first attempt of the delivery.
func (b *bundle) fail(t *testing.T, d hook.Delivery, state hook.State) {
	t.Helper()

	d.State, d.Attempts, d.NextAttemptAt = state, 1, b.now.Add(time.Minute)
	if state == hook.StateDead {
		d.Reason, d.NextAttemptAt = hook.ReasonExhausted, time.Time{}
	}
	d.Last = hook.Outcome{
		Class: hook.ClassTimeout, Error: "203.0.113.9 kept silent", URL: "https://answers.example.com/", Body: []byte("a receiver's words"), Duration: time.Second,
	}
	attempt := &hook.Attempt{Delivery: d.Ref(), Number: 1, Trigger: hook.TriggerEvent, StartedAt: b.now, NextAttemptAt: d.NextAttemptAt, Outcome: d.Last}
	if err := b.store.SaveDelivery(t.Context(), d, attempt); err != nil {
		t.Fatalf("SaveDelivery = %v", err)
	}
}

// job makes a running replay job.
func (b *bundle) job(t *testing.T, tenant hook.TenantID) replay.Job {
	t.Helper()

	id := hook.NewJobID()
	j := replay.Job{
		ID: id, Tenant: tenant, Filter: replay.Filter{State: hook.StateDead, To: b.now}, Terms: replay.Terms{Rate: 50, By: "key_owner"}, State: replay.JobRunning,
		CreatedAt: b.now, UpdatedAt: b.now, ExpiresAt: b.now.Add(replay.KeepJobs), Selects: true,
	}
	if err := b.store.SaveJob(t.Context(), j); err != nil {
		t.Fatalf("SaveJob = %v", err)
	}
	return j
}

// TestCursors checks that every list accepts its own cursors and no others.
func TestCursors(t *testing.T) {
	t.Parallel()

	b := setup(t)
	all := lists(t, b)
	refused := invalid("cursor", "is not one that this list returned")
	for name, l := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if status, body := l.page(t, b, l.cursor); status != 200 || strings.Contains(body, `"data":[]`) {
				t.Fatalf("GET %s with its cursor = %d %s; want the next page", l.path, status, body)
			}
			bad := damaged(l.cursor)
			for other, o := range all {
				if other != name {
					bad = append(bad, o.cursor)
				}
			}
			for _, cursor := range bad {
				if status, body := l.page(t, b, cursor); status != 400 || body != refused {
					t.Errorf("GET %s with cursor %q = %d %s; want 400 naming the cursor\n%s is its own", l.path, cursor, status, body, l.cursor)
				}
			}
		})
	}
}

// damaged returns damaged forms of the cursor: truncated, extended, and with one changed
// character in every place. The last character is replaced by every other one, because some of
// them only differ in unused bits.
func damaged(cursor string) []string {
	bad := []string{
		cursor + "A", cursor + "=", cursor + "==", cursor + "\n", cursor + "\r\n", cursor + " ", " " + cursor, cursor + cursor,
		cursor + ",", cursor + "\x00", cursor + "é", cursor[1:], strings.ToUpper(cursor), strings.ToLower(cursor), "null", `""`, "0",
		cursor[:10] + "\n" + cursor[10:],
	}
	for i := range cursor {
		if i > 0 {
			bad = append(bad, cursor[:i])
		}
		j := strings.IndexByte(alphabet, cursor[i])
		bad = append(bad, cursor[:i]+alphabet[(j+1)%64:][:1]+cursor[i+1:])
	}
	for _, c := range alphabet {
		if last := cursor[:len(cursor)-1] + string(c); last != cursor {
			bad = append(bad, last)
		}
	}
	return bad
}

// forge returns the cursor of the list for any position.
func forge(scope, position string) string {
	sum := sha256.Sum256([]byte(scope + "\x00" + position))
	return base64.RawURLEncoding.EncodeToString(append(sum[:8], position...))
}

// TestCursors_forged reads the lists of globex with forged cursors: after every position of acme,
// and after invalid positions. The response must be a part of globex's list, or a 400.
func TestCursors_forged(t *testing.T) {
	t.Parallel()

	b := setup(t)
	all := lists(t, b)
	positions := []string{"\x00", "\xff", "*", "acme", "endpoint#", "retrying#", strings.Repeat("\xff", 4096)}
	var theirs []string
	for name, l := range all {
		raw, err := base64.RawURLEncoding.DecodeString(l.cursor)
		if err != nil || forge(l.scope, string(raw[8:])) != l.cursor {
			t.Fatalf("the cursor of %s is %q, %v; want one that the test can make", name, l.cursor, err)
		}
		if !strings.HasPrefix(name, "acme") {
			continue
		}
		position := string(raw[8:])
		positions = append(positions, position)
	}
	for _, e := range get[struct{ Data []object }](t, b, owner, 200, "GET", endpoints, "").Data {
		theirs = append(theirs, idOf(t, e), strings.TrimPrefix(idOf(t, e), "ep_"))
	}
	taken := 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		l := all[name]
		if !strings.HasPrefix(name, "globex") {
			continue
		}
		for _, position := range positions {
			status, body := l.page(t, b, forge(l.scope, position))
			if status != 200 && (status != 400 || !strings.Contains(body, `{"field":"cursor",`)) {
				t.Errorf("GET %s after %q = %d %s; want a page or 400 naming the cursor", l.path, position, status, body)
			}
			if status == 200 {
				taken++
			}
			for _, id := range theirs {
				if strings.Contains(body, id) {
					t.Errorf("GET %s after %q = %s; it holds %s of another tenant", l.path, position, body, id)
				}
			}
		}
	}
	if taken == 0 {
		t.Error("no forged cursor was taken; want some, or the test forges in vain")
	}
}

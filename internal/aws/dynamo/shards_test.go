package dynamo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/hook"
)

// wantShards checks that the requests are one query for each shard of the list.
func wantShards(t *testing.T, sent []request, query body, list string, value any) {
	t.Helper()

	var want []request
	for n := range 16 {
		q := body{"ExpressionAttributeValues": map[string]any{":pk": s(fmt.Sprintf("%s#%02d", list, n)), ":from": value}}
		for name, v := range query {
			q[name] = v
		}
		want = append(want, request{"Query", q})
	}
	slices.SortFunc(sent, func(a, b request) int { return strings.Compare(shardAsked(a), shardAsked(b)) })
	if diff := cmp.Diff(want, sent, cmp.AllowUnexported(request{})); diff != "" {
		t.Errorf("requests sent (-want +got):\n%s", diff)
	}
}

// shardAsked returns the hash key of a query.
func shardAsked(r request) string {
	asked, _ := r.body.at("ExpressionAttributeValues", ":pk", "S").(string)
	return asked
}

// shards is the index by_state: the range keys of each hash key. Records with a stale row have
// another range key.
type shards struct {
	rows  map[string][]string
	stale map[string]bool
	reads map[string]int // requests by hash key; "": batch reads
}

// circuitRow returns the range key of a circuit with an AttendAt at minute i.
func circuitRow(i int) string {
	return epoch.Add(time.Duration(i)*time.Minute).Format("2006-01-02T15:04:05.000Z") + "#" + string(numbered(i))
}

// activeRow returns the range key of counts of endpoint i.
func activeRow(i int) string { return fmt.Sprintf("tenant-%05d#%s", i, numbered(i)) }

func numbered(i int) hook.EndpointID { return hook.EndpointID(fmt.Sprintf("ep_%016d", i)) }

// newShards places n rows; shard i%len(places) of places gets row i.
func newShards(list string, row func(int) string, n int, places ...int) *shards {
	x := &shards{rows: make(map[string][]string), stale: make(map[string]bool), reads: make(map[string]int)}
	for i := range n {
		hash := fmt.Sprintf("%s#%02d", list, places[i%len(places)])
		x.rows[hash] = append(x.rows[hash], row(i))
	}
	return x
}

// reply answers as DynamoDB does: a page that ends at the limit has a
// LastEvaluatedKey, even at the end of the rows.
func (x *shards) reply(r request) answer {
	x.reads[shardAsked(r)]++
	var items []map[string]any
	if r.op == "BatchGetItem" {
		keys, _ := r.body.at("RequestItems", "table", "Keys").([]any)
		for i := range keys {
			pk, _ := r.body.at("RequestItems", "table", "Keys", i, "pk", "S").(string)
			id := strings.TrimPrefix(pk, "endpoint#")
			var number int
			_, _ = fmt.Sscanf(id, "ep_%d", &number)
			at := epoch.Add(time.Duration(number) * time.Minute)
			if x.stale[circuitRow(number)] {
				at = at.Add(time.Second)
			}
			items = append(items, map[string]any{
				"pk": s(pk), "sk": s("circuit"), "id": s(id), "tenant": s("acme"), "attend_at": n(fmt.Sprint(at.UnixMilli())),
			})
		}
		return reply(map[string]any{"Responses": map[string]any{"table": items}})
	}
	after, _ := r.body.at("ExclusiveStartKey", "state_sk", "S").(string)
	limit, _ := r.body.at("Limit").(float64)
	condition, _ := r.body.at("KeyConditionExpression").(string)
	value, _ := r.body.at("ExpressionAttributeValues", ":from", "S").(string)
	out := make(map[string]any)
	for _, row := range x.rows[shardAsked(r)] {
		if row <= after || strings.HasSuffix(condition, "> :from") && row <= value || strings.HasSuffix(condition, "< :from") && row >= value {
			continue
		}
		_, id, _ := strings.Cut(row, "#")
		items = append(items, map[string]any{"pk": s("endpoint#" + id), "sk": s("circuit"), "state_pk": s(shardAsked(r)), "state_sk": s(row)})
		if len(items) == int(limit) {
			out["LastEvaluatedKey"] = items[len(items)-1]
			break
		}
	}
	out["Items"] = items
	return reply(out)
}

func reply(v any) answer {
	text, err := json.Marshal(v)
	if err != nil {
		return answer{status: 500}
	}
	return answer{body: string(text)}
}

// each returns the numbers of all shards.
func each() []int {
	all := make([]int, 16)
	for n := range all {
		all[n] = n
	}
	return all
}

func TestStore_ListsMergeTheirShardsInOrder(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		rows   int
		places []int
		most   int // queries of one shard by one call
	}{
		{name: "no rows", rows: 0, places: each(), most: 1},
		{name: "one row", rows: 1, places: []int{9}, most: 1},
		{name: "rows in all shards", rows: 640, places: each(), most: 2},
		{name: "rows in one shard", rows: 640, places: []int{7}, most: 3},
		{name: "rows in two shards in turn", rows: 640, places: []int{15, 0}, most: 3},
		{name: "most rows in one shard", rows: 640, places: append(each(), 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3), most: 3},
	}
	for _, tt := range tests {
		for _, limit := range []int{1, 16, 17, 100, 639, 640, 641, 1000} {
			t.Run(fmt.Sprintf("%s, limit %d", tt.name, limit), func(t *testing.T) {
				t.Parallel()

				var want []hook.EndpointID
				for i := range min(tt.rows, limit) {
					want = append(want, numbered(i))
				}
				check := func(call string, x *shards, got []hook.EndpointID, err error) {
					t.Helper()
					if diff := cmp.Diff(want, got); diff != "" || err != nil {
						t.Errorf("%s = %v, differs (-want +got):\n%s", call, err, diff)
					}
					for hash, n := range x.reads {
						if hash != "" && n > tt.most {
							t.Errorf("%s made %d queries of %s; want at most %d", call, n, hash, tt.most)
						}
					}
				}

				x := newShards("circuit", circuitRow, tt.rows, tt.places...)
				w, store := newWire(t)
				w.reply = x.reply
				records, err := store.Attended(t.Context(), limit)
				var got []hook.EndpointID
				for _, r := range records {
					got = append(got, r.Endpoint)
				}
				check("Attended()", x, got, err)

				x = newShards("active#2026-01-02T03", activeRow, tt.rows, tt.places...)
				w, store = newWire(t)
				w.reply = x.reply
				active, err := store.Active(t.Context(), epoch, hook.CircuitCheck{}, limit)
				got = nil
				for _, a := range active {
					got = append(got, a.Endpoint)
				}
				check("Active()", x, got, err)
			})
		}
	}
}

func TestStore_Active_GoesOnAfterAnEndpointOfAnyShard(t *testing.T) {
	t.Parallel()

	for _, limit := range []int{1, 7, 16, 50} {
		t.Run(fmt.Sprintf("limit %d", limit), func(t *testing.T) {
			t.Parallel()

			const rows = 120
			x := newShards("active#2026-01-02T03", activeRow, rows, append(each(), 4, 4, 4, 4)...)
			w, store := newWire(t)
			w.reply = x.reply
			var after hook.CircuitCheck
			var got []string
			for {
				page, err := store.Active(t.Context(), epoch, after, limit)
				if err != nil || len(page) > limit || len(got) > rows {
					t.Fatalf("Active(limit %d) = %d endpoints, %v; want a page", limit, len(page), err)
				}
				if len(page) == 0 {
					break
				}
				after = page[len(page)-1]
				for _, a := range page {
					got = append(got, string(a.Tenant)+"#"+string(a.Endpoint))
				}
			}
			var want []string
			for i := range rows {
				want = append(want, activeRow(i))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Active() in pages of %d differs (-want +got):\n%s", limit, diff)
			}
		})
	}
}

func TestStore_Attended_ReadsOnAfterStaleRowsOfAllShards(t *testing.T) {
	t.Parallel()

	for name, places := range map[string][]int{"in all shards": each(), "in one shard": {11}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			x := newShards("circuit", circuitRow, 300, places...)
			var want []hook.EndpointID
			for i := range 300 {
				if i%3 != 0 || i < 20 {
					x.stale[circuitRow(i)] = true
				} else if len(want) < 50 {
					want = append(want, numbered(i))
				}
			}
			w, store := newWire(t)
			w.reply = x.reply
			records, err := store.Attended(t.Context(), 50)
			var got []hook.EndpointID
			for _, r := range records {
				got = append(got, r.Endpoint)
			}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("Attended(limit 50) = %v, differs (-want +got):\n%s", err, diff)
			}
		})
	}
}

// A list with a gap would hide circuits. With an error, the caller can try again.
func TestStore_AFailingShardFailsTheList(t *testing.T) {
	t.Parallel()

	calls := map[string]func(ctx context.Context, s *dynamo.Store) (int, error){
		"DueCircuits": func(ctx context.Context, s *dynamo.Store) (int, error) {
			checks, err := s.DueCircuits(ctx, epoch.AddDate(0, 0, 1), 100)
			return len(checks), err
		},
		"Attended": func(ctx context.Context, s *dynamo.Store) (int, error) {
			records, err := s.Attended(ctx, 100)
			return len(records), err
		},
		"Active": func(ctx context.Context, s *dynamo.Store) (int, error) {
			active, err := s.Active(ctx, epoch, hook.CircuitCheck{}, 100)
			return len(active), err
		},
	}
	failures := map[string]struct {
		answer answer
		code   hook.Code
	}{
		"throttled": {answer: failure(400, "ProvisionedThroughputExceededException", ""), code: hook.CodeUnavailable},
		"invalid":   {answer: failure(400, "ValidationException", ""), code: hook.CodeInternal},
		"no row":    {answer: answer{body: `{"Items":[{"pk":{"M":{}}}]}`}, code: hook.CodeInternal},
	}
	for name, call := range calls {
		for what, fails := range failures {
			for _, at := range []string{"#00", "#09", "#15"} {
				t.Run(name+", "+what+" at "+at, func(t *testing.T) {
					t.Parallel()

					list, row := "circuit", circuitRow
					if name == "Active" {
						list, row = "active#2026-01-02T03", activeRow
					}
					x := newShards(list, row, 64, each()...)
					w, store := newWire(t)
					w.reply = func(r request) answer {
						if shardAsked(r) == list+at {
							return fails.answer
						}
						return x.reply(r)
					}
					if n, err := call(t.Context(), store); hook.CodeOf(err) != fails.code || err == nil || n != 0 {
						t.Errorf("%s = %d, %v (%s); want none, and %s", name, n, err, hook.CodeOf(err), fails.code)
					}
				})
			}
		}
	}
}

func TestStore_IdleTick_Makes16QueriesAList(t *testing.T) {
	t.Parallel()

	const atOnce = 8
	w, store := newWire(t)
	full := make(chan struct{})
	var once sync.Once
	w.arrived = func(n int32) { // the first answer waits for the eighth request
		if n == atOnce {
			for range 100_000 { // and gives a ninth request a chance
				runtime.Gosched()
			}
			once.Do(func() { close(full) })
		}
		select {
		case <-full:
		case <-t.Context().Done():
		}
	}
	checks, err := store.DueCircuits(t.Context(), epoch, 200)
	if err != nil || len(checks) != 0 {
		t.Fatalf("DueCircuits() = %v, %v; want none", checks, err)
	}
	wantShards(t, w.sent(), body{
		"TableName": "table", "IndexName": "by_state", "Limit": 41.0,
		"KeyConditionExpression": "state_pk = :pk AND state_sk < :from",
	}, "circuit", s("2026-01-02T03:04:05.679Z"))
	if most := w.most.Load(); most != atOnce {
		t.Errorf("DueCircuits() made %d queries at the same time; want %d", most, atOnce)
	}
}

// TestStore_EndpointsKeepTheirShard pins the hash: with another one, the stored rows would not be
// found.
func TestStore_EndpointsKeepTheirShard(t *testing.T) {
	t.Parallel()

	w, store := newWire(t)
	shardIn := func(id hook.EndpointID) string {
		t.Helper()
		r := record(0)
		r.Endpoint = id
		if err := store.SaveCircuit(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		sent := w.sent()
		hash, _ := sent[len(sent)-1].body.at("Item", "state_pk", "S").(string)
		return hash
	}
	for id, want := range map[hook.EndpointID]string{
		endpointID: "circuit#05", "ep_aaaaaaaaaaaaaaaa": "circuit#10", "ep_zzzzzzzzzzzzzzzz": "circuit#10", "ep_0000000000000000": "circuit#09",
	} {
		if got := shardIn(id); got != want {
			t.Errorf("%s is in %s; want %s", id, got, want)
		}
	}
	spread := make(map[string]int)
	for i := range 800 {
		spread[shardIn(numbered(i*7919))]++
	}
	for n := range 16 {
		hash := fmt.Sprintf("circuit#%02d", n)
		if got := spread[hash]; got < 25 || got > 75 { // the mean is 50
			t.Errorf("%s has %d of 800 circuits; want 25 to 75", hash, got)
		}
	}
	if len(spread) != 16 {
		t.Errorf("circuits are in %d hash keys; want 16: %v", len(spread), spread)
	}
}

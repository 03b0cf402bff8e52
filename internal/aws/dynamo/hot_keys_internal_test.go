package dynamo

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/admission"
)

// Limits of one partition key, of the table and of an index, in units a second.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
const (
	keyWrites = 1000
	keyReads  = 3000
)

// second has the units that the keys of the table and of its indexes have used in one second.
type second struct{ writes, reads map[string]float64 }

func newSecond() second {
	return second{make(map[string]float64), make(map[string]float64)}
}

// put counts writing the item in place of old, which is nil for none. Writing to the table takes
// a unit per KB. In an index, a row whose keys change is deleted and put, and a row with the same
// keys stays, because the indexes hold only keys. If the units of the table's key or of one row's
// key are used up, DynamoDB refuses the whole write.
func (s second) put(before, after attributes) (throttledBy string) {
	use := map[string]float64{textOf(after, names.PartitionKey): math.Ceil(float64(size(after)) / 1024)}
	for _, index := range []struct{ name, hash, sort string }{
		{names.IndexByEndpoint, names.ByEndpointHash, names.ByEndpointRange}, {names.IndexByState, names.ByStateHash, names.ByStateRange},
	} {
		was, is := textOf(before, index.sort), textOf(after, index.sort)
		if was == is && textOf(before, index.hash) == textOf(after, index.hash) {
			continue
		}
		if was != "" {
			use[index.name+" "+textOf(before, index.hash)]++
		}
		if is != "" {
			use[index.name+" "+textOf(after, index.hash)]++
		}
	}
	for k, units := range use {
		if s.writes[k]+units > keyWrites {
			return k
		}
	}
	for k, units := range use {
		s.writes[k] += units
	}
	return ""
}

// query counts reading a shard of an index, half a unit per 4 KB, because index reads are
// eventually consistent.
func (s second) query(hash string, bytes int) (throttled bool) {
	s.reads[hash] += max(0.5, math.Ceil(float64(bytes)/4096)/2)
	return s.reads[hash] > keyReads
}

func (s *Store) deliveryItem(d hook.Delivery) attributes {
	return s.next(deliveryKey(d.Ref()), 0, s.payload.toDeliveryItem(d)).Put.Item
}

func (s *Store) circuitItem(r admission.Record) attributes {
	return s.next(circuitKey(r.Endpoint), 0, r, circuitRow(r)).Put.Item
}

func textOf(item attributes, name string) string {
	if s, ok := item[name].(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

// size is an upper bound of the item's size for items with texts, numbers and one level
// of nesting.
func size(item attributes) int {
	n := 0
	for name, value := range item {
		n += len(name)
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			n += len(v.Value)
		case *types.AttributeValueMemberM:
			n += 3 + size(v.Value)
		default:
			n += 21
		}
	}
	return n
}

var hotAt = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// first returns the item of an event of at most 1 KB, and its delivery after a success and after a
// failure of the first attempt.
func first(e hook.Endpoint, n int) (stored attributes, delivered, failed hook.Delivery) {
	event := hook.Event{ID: hook.KeyedEventID(e.Tenant, fmt.Sprintf("%s %d", e.ID, n)), Tenant: e.Tenant, Type: "order.paid", AcceptedAt: hotAt, Targets: []hook.Target{e.Target()}}
	delivered = hook.QueuedDelivery(event, e.Target())
	delivered.Attempts, delivered.DecidedBy, delivered.Last = 1, hook.NewNonce(), hook.Outcome{Class: hook.ClassOfStatus(200), Status: 200, URL: "https://example.com/hooks"}
	delivered.State = hook.StateDelivered
	failed = delivered
	failed.State, failed.NextAttemptAt = hook.StateRetrying, hotAt.Add(10*time.Second)
	return encodeItem(eventKey(event.ID)), delivered, failed
}

func endpointOf(n, shards int) hook.Endpoint {
	return hook.Endpoint{ID: hook.EndpointID(fmt.Sprintf("ep_%026d", n)), Tenant: "acme", Shards: shards}
}

// A hot endpoint with 5,000 events a second throttles its own partition. The events of 1,000
// other endpoints in the same second are still stored and delivered, failures included.
func TestHotEndpoint_ThrottlesNobodyElse(t *testing.T) {
	t.Parallel()

	store := Over(nil, "table")
	for _, fails := range []bool{false, true} {
		t.Run(fmt.Sprintf("every attempt fails: %t", fails), func(t *testing.T) {
			t.Parallel()

			s, own := newSecond(), 0
			hot := endpointOf(0, 1)
			for n := range 5000 {
				event, delivered, failed := first(hot, n)
				if by := s.put(nil, event); by != "" {
					t.Fatalf("event %d is throttled by %s; want accepted", n, by)
				}
				d := delivered
				if fails {
					d = failed
				}
				switch by := s.put(nil, store.deliveryItem(d)); by {
				case "":
				case deliveryPartition(hot.ID, 0), names.IndexByEndpoint + " " + deliveryPartition(hot.ID, 0):
					own++
				default:
					t.Fatalf("delivery %d is throttled by %s; want the endpoint's partition at most", n, by)
				}
			}
			if own != 4000 {
				t.Errorf("%d deliveries of the hot endpoint are throttled; want 4000", own)
			}
			for n := range 1000 {
				event, delivered, failed := first(endpointOf(1+n, 1), n)
				for _, item := range []attributes{event, store.deliveryItem(delivered), store.deliveryItem(failed)} {
					if by := s.put(nil, item); by != "" {
						t.Fatalf("endpoint %d is throttled by %s", n, by)
					}
				}
			}
		})
	}
}

// 16 shards carry 8,000 deliveries a second: 500 a shard, with a reserve of 2 for retries.
func TestShards_CarryTheirShare(t *testing.T) {
	t.Parallel()

	store := Over(nil, "table")
	for _, shards := range []int{1, 4, hook.MaxShards} {
		s := newSecond()
		e := endpointOf(0, shards)
		for n := range 500 * shards {
			event, delivered, failed := first(e, n)
			next := failed
			next.Attempts, next.NextAttemptAt = 2, failed.NextAttemptAt.Add(time.Minute)
			writes := [][2]attributes{{nil, event}, {nil, store.deliveryItem(delivered)}}
			if n%10 == 0 { // every tenth attempt fails, and fails again
				writes = [][2]attributes{{nil, event}, {nil, store.deliveryItem(failed)}, {store.deliveryItem(failed), store.deliveryItem(next)}}
			}
			for _, w := range writes {
				if by := s.put(w[0], w[1]); by != "" {
					t.Fatalf("%d shards, delivery %d is throttled by %s", shards, n, by)
				}
			}
		}
	}
}

// 5,000 endpoints fail in the same second, and every circuit opens. In a later second the tick
// reads all circuits and moves every check. Nothing is throttled in either second.
func TestMassOutage_IsAttendedWithoutAThrottle(t *testing.T) {
	t.Parallel()

	store := Over(nil, "table")
	s, later := newSecond(), newSecond()
	rows := make(map[string]int)
	for n := range 5000 {
		closed := admission.NewRecord("acme", endpointOf(n, 1).ID)
		opened := closed
		opened.Version, opened.Waiting, opened.AttendAt = 1, true, hotAt.Add(5*time.Minute)
		probed := opened
		probed.Version, probed.AttendAt = 2, opened.AttendAt.Add(admission.AttendAfter)
		if by := s.put(store.circuitItem(closed), store.circuitItem(opened)); by != "" {
			t.Fatalf("the opening of circuit %d is throttled by %s", n, by)
		}
		if by := later.put(store.circuitItem(opened), store.circuitItem(probed)); by != "" {
			t.Fatalf("the check of circuit %d is throttled by %s", n, by)
		}
		item := store.circuitItem(opened)
		bytes := 100
		for _, name := range []string{names.PartitionKey, names.SortKey, names.ByStateHash, names.ByStateRange} {
			bytes += len(textOf(item, name))
		}
		rows[textOf(item, names.ByStateHash)] += bytes
		_, _, failed := first(endpointOf(n, 1), n)
		if by := s.put(nil, store.deliveryItem(failed)); by != "" {
			t.Fatalf("delivery %d is throttled by %s", n, by)
		}
	}
	if len(rows) != endpointShards {
		t.Errorf("the circuits are in %d shards; want %d", len(rows), endpointShards)
	}
	for hash, bytes := range rows {
		if later.query(hash, bytes) {
			t.Errorf("the tick's query of %s is throttled", hash)
		}
	}
	if most := s.writes[names.IndexByState+" "+shard(circuitList, hook.ShardOf(endpointOf(0, 1).ID, endpointShards))]; most == 0 {
		t.Error("no write of the index is counted")
	}
}

package dynamo

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/stats"
)

// Attributes of the counts of event types. The id of the type and a number follow the
// prefix. Every attribute ends with a digit, so no attribute is a reserved word.
const (
	typesKey        = "t" // the set of the types with counts of their own
	succeededPrefix = "s" // the number of the attempt
	unsuccessPrefix = "e" // the number of the attempt
	deathPrefix     = "k" // 0
	coarsePrefix    = "l" // the bucket of the histogram

	typeIDLength = 3
	otherID      = "_" // of the other types; no id of a type has "_"
)

// typeID returns a short id of the type for the names of attributes: three characters,
// because each count repeats the id. Two of 8 types have the same id in one of
// 62^3 / (8 x 7 / 2) = 8,500 hours with 8 types. counts then shows the counts of both
// as counts of the first.
func typeID(eventType string) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	if eventType == "" {
		return otherID
	}
	sum := sha256.Sum256([]byte(eventType))
	n := binary.BigEndian.Uint64(sum[:])
	var id [typeIDLength]byte
	for i := range id {
		id[i] = digits[n%uint64(len(digits))]
		n /= uint64(len(digits))
	}
	return string(id[:])
}

// addTypes adds the counts of event types to the hour's item.
func addTypes(t *stats.Types, add func(attribute string, n int)) {
	for name, c := range t.All() {
		id := typeID(name)
		for i, n := range c.Succeeded {
			add(succeededPrefix+id+strconv.Itoa(i), n)
		}
		for i, n := range c.Failed {
			add(unsuccessPrefix+id+strconv.Itoa(i), n)
		}
		add(deathPrefix+id+"0", c.Dead)
		for bucket, n := range c.Latency.Buckets() {
			add(coarsePrefix+id+strconv.Itoa(bucket), n)
		}
	}
}

// typeEntries returns the entries of the types by id.
func typeEntries(t *stats.Types, names []string) map[string]*stats.TypeCounts {
	names = slices.Sorted(slices.Values(names))
	for _, name := range names { // every entry has its place before the pointers are taken
		t.Of(name)
	}
	entries := map[string]*stats.TypeCounts{otherID: &t.Other}
	for _, name := range names {
		if id := typeID(name); entries[id] == nil {
			entries[id] = t.Of(name)
		}
	}
	return entries
}

// readTypeCount sets the count in the attribute of an event type.
func readTypeCount(entries map[string]*stats.TypeCounts, attribute string, n int) {
	end := 1 + typeIDLength
	if strings.HasPrefix(attribute[1:], otherID) {
		end = 1 + len(otherID)
	}
	end = min(end, len(attribute))
	entry := entries[attribute[1:end]]
	i, ok := digits(attribute[end:])
	if entry == nil || !ok {
		return
	}
	switch prefix := attribute[:1]; {
	case prefix == coarsePrefix:
		entry.Latency.AddN(i, n)
	case prefix == deathPrefix:
		entry.Dead = n
	case i >= len(entry.Failed):
	case prefix == succeededPrefix:
		entry.Succeeded[i] = n
	case prefix == unsuccessPrefix:
		entry.Failed[i] = n
	}
}

// typeRoom says which types may have counts of their own in an hour's item.
type typeRoom struct {
	known []string // types in the item, as far as the process knows
	sure  bool     // the process has seen the item in this hour
}

// fit moves the counts of types without room to Other, and returns the condition for the types
// that the item may not have yet; zero for none. The item never has more than stats.MaxTypes types,
// because each type makes every later write of the item larger.
func (r typeRoom) fit(t *stats.Types, values attributes) condition {
	var added []string
	room := stats.MaxTypes - len(r.known)
	t.Keep(func(name string) bool {
		switch {
		case slices.Contains(r.known, name):
			return true
		case r.sure && len(added) >= room:
			return false
		}
		added = append(added, name)
		return true
	})
	if len(added) == 0 {
		return condition{}
	}
	values[":room"] = number(int64(stats.MaxTypes - len(added)))
	values[":types"] = &types.AttributeValueMemberSS{Value: added}
	fits := "(attribute_not_exists(" + typesKey + ") OR size(" + typesKey + ") <= :room"
	if r.sure {
		return where(fits+")", nil)
	}
	present := make([]string, len(added))
	for i, name := range added {
		value := fmt.Sprintf(":type%d", i)
		values[value] = text(name)
		present[i] = "contains(" + typesKey + ", " + value + ")"
	}
	return where(fits+" OR ("+strings.Join(present, " AND ")+"))", nil)
}

// maxKnown bounds what a process remembers of the types in items, in bytes: of some 10,000 endpoints.
const maxKnown = 8 << 20

// endpointHour names an hour's item.
type endpointHour struct {
	endpoint hook.EndpointID
	hour     time.Time
}

// roomOf returns what is known about the endpoint's item of the hour, so that an update needs no
// condition. A process that does not know the types makes a conditional update. It fails only if
// the item has no room, and the answer then has the types: one failed update per process,
// endpoint and hour.
func (s *Store) roomOf(id hook.EndpointID, hour time.Time) typeRoom {
	known, sure := s.types.Get(endpointHour{id, hour})
	return typeRoom{known, sure}
}

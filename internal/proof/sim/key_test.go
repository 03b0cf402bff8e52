package sim_test

import (
	"strings"
	"time"
)

// The memory store knows no partition keys. The simulator derives the key of each request
// from its name, as package dynamo does, but without the shards of deliveries. A partition
// takes 1,000 writes and 3,000 reads a second. The simulator makes at most about 300
// effects a second, so its partitions take a hundredth of that.
const (
	keyWrites = 10 // a second
	keyReads  = 30
)

// partition is the requests of one partition in one second.
type partition struct {
	second        time.Time
	reads, writes int
}

// keyOf returns the partition key of the request; empty: no request to the table, or to
// several partitions. The first word of what a request is about is an id.
func keyOf(c *call) string {
	id, _, _ := strings.Cut(c.about, " ")
	switch c.op {
	case "save delivery", "read delivery":
		if parts := strings.Split(id, "_"); len(parts) == 4 { // dlv_<event>_<endpoint>_<generation>
			return "endpoint#ep_" + parts[2] + "#"
		}
	case "read circuit", "save circuit", "read limits", "save limits", "count", "read endpoint", "update endpoint":
		return "endpoint#" + id
	case "read version", "list endpoints":
		return "tenant#" + id
	case "put event", "read event":
		return "event#" + id
	}
	return ""
}

// overloaded reports whether the table throttles the request's partition now.
func (w *simulation) overloaded(c *call) bool {
	key := keyOf(c)
	if !w.rates.hot || key == "" {
		return false
	}
	p := w.partitions[key]
	if second := w.now.Truncate(time.Second); !p.second.Equal(second) {
		p = partition{second: second}
	}
	if c.kind == read {
		p.reads++
	} else {
		p.writes++
	}
	w.partitions[key] = p
	if p.reads <= keyReads && p.writes <= keyWrites {
		return false
	}
	w.count("throttles of a partition")
	return true
}

// contended reports whether the table refuses a conditional write, because another request
// writes the same item at the same time.
func (w *simulation) contended(c *call) bool {
	if c.kind != conditional && c.kind != recognized || w.rates.contend == 0 {
		return false
	}
	id, _, _ := strings.Cut(c.about, " ")
	for _, other := range w.waiting {
		if other.op == c.op && other.p != c.p && !other.at.After(w.now) && strings.HasPrefix(other.about, id) && w.chance(w.rates.contend) {
			w.count("transaction conflicts")
			return true
		}
	}
	return false
}

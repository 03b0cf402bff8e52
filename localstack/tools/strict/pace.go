package strict

import (
	"encoding/json"
	"sync"
	"time"
)

// maxKeyWrites is the write units per second of one partition key, in a table
// and in an index.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
const maxKeyWrites = 1000

// write is a write to one item.
type write struct {
	keys  []string // the partition keys of table and indexes
	units int
}

// writes returns the writes of a call. The size of an updated or deleted item
// is unknown: one unit.
func (f *Front) writes(c *call) []write {
	in := c.input
	switch c.operation {
	case "PutItem":
		return []write{f.write(in.text("TableName"), in.object("Item"), 1)}
	case "UpdateItem", "DeleteItem":
		return []write{f.write(in.text("TableName"), in.object("Key"), 1)}
	case "BatchWriteItem":
		var all []write
		items := in.object("RequestItems")
		for table := range items {
			for _, request := range items.list(table) {
				i := request.object("PutRequest").object("Item")
				if i == nil {
					i = request.object("DeleteRequest").object("Key")
				}
				all = append(all, f.write(table, i, 1))
			}
		}
		return all
	case "TransactWriteItems":
		var all []write
		for _, action := range in.list("TransactItems") {
			for kind := range action {
				a := action.object(kind)
				i := a.object("Item")
				if i == nil {
					i = a.object("Key")
				}
				all = append(all, f.write(a.text("TableName"), i, 2)) // prepare and commit
			}
		}
		return all
	}
	return nil
}

// write returns the write of an item or of a key.
func (f *Front) write(table string, i item, factor int) write {
	const unit = 1024 // bytes
	w := write{units: factor * max(1, (itemSize(i)+unit-1)/unit)}
	s := f.tables.seen(table)
	if s == nil {
		return w
	}
	add := func(where, attribute string) {
		if i.has(attribute) {
			value, err := json.Marshal(i[attribute])
			if err == nil {
				w.keys = append(w.keys, table+" "+where+" "+string(value))
			}
		}
	}
	add("", s.keys[0])
	for name, keys := range s.indexes {
		add(name, keys[0])
	}
	return w
}

// pace counts the write units of each partition key in the current second.
type pace struct {
	mu     sync.Mutex
	second int64
	units  map[string]int
}

// refuse counts the writes, or returns a throttle if a key has no units left in
// this second.
func (p *pace) refuse(writes []write, now time.Time) *refusal {
	if len(writes) == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()

	if now.Unix() != p.second || p.units == nil {
		p.second, p.units = now.Unix(), map[string]int{}
	}
	more := map[string]int{}
	for _, w := range writes {
		for _, key := range w.keys {
			more[key] += w.units
		}
	}
	for key := range more { // a request is admitted while units are left
		if p.units[key] >= maxKeyWrites {
			return &refusal{code: "ThrottlingException", message: "Throughput exceeds the current capacity of one partition key: " + key}
		}
	}
	for key, units := range more {
		p.units[key] += units
	}
	return nil
}

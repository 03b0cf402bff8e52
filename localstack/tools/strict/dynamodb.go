package strict

import (
	"net/http"
)

const (
	maxBatchWrite  = 25
	maxBatchGet    = 100
	maxTransaction = 4 << 20  // bytes of the items
	maxBatchBytes  = 16 << 20 // bytes of the items
)

// checkDynamoDB checks a call. The model holds the number of actions in a
// transaction, and names and lengths of tables and indexes.
func (f *Front) checkDynamoDB(r *http.Request, c *call) *refusal {
	in := c.input
	switch c.operation {
	case "PutItem":
		return f.checkAction(r, in, in.object("Item"), nil)
	case "GetItem", "UpdateItem", "DeleteItem":
		return f.checkAction(r, in, nil, in.object("Key"))
	case "Query", "Scan":
		return f.checkQuery(r, in)
	case "BatchGetItem":
		return f.checkBatchGet(r, in.object("RequestItems"))
	case "BatchWriteItem":
		return f.checkBatchWrite(r, in.object("RequestItems"))
	case "TransactWriteItems":
		return f.checkTransaction(r, in.list("TransactItems"), []string{"ConditionCheck", "Put", "Delete", "Update"})
	case "TransactGetItems":
		return f.checkTransaction(r, in.list("TransactItems"), []string{"Get"})
	}
	return nil
}

// checkAction checks one action with an item or with a key.
func (f *Front) checkAction(r *http.Request, in object, put, key item) *refusal {
	s := f.tables.schema(r, in.text("TableName"))
	if put != nil {
		return first(checkItem(put), s.checkKeysOf(put), f.opts.Rules.checkExpressions(in))
	}
	return first(checkValues(key), s.checkKey(key), f.opts.Rules.checkExpressions(in))
}

func (f *Front) checkQuery(r *http.Request, in object) *refusal {
	s := f.tables.schema(r, in.text("TableName"))
	if s != nil && in.has("IndexName") {
		if s.indexes[in.text("IndexName")] == nil {
			return invalid("The table does not have the specified index: %s", in.text("IndexName"))
		}
		if in.is("ConsistentRead") {
			return invalid("Consistent reads are not supported on global secondary indexes")
		}
	}
	return f.opts.Rules.checkExpressions(in)
}

func (f *Front) checkBatchGet(r *http.Request, items object) *refusal {
	n, seen := 0, map[string]bool{}
	for table := range items {
		in := items.object(table)
		s := f.tables.schema(r, table)
		for _, key := range in.list("Keys") {
			n++
			id := identity(table, key)
			if seen[id] {
				return invalid("Provided list of item keys contains duplicates: %s", id)
			}
			seen[id] = true
			if refused := first(checkValues(key), s.checkKey(key)); refused != nil {
				return refused
			}
		}
		if refused := f.opts.Rules.checkExpressions(in); refused != nil {
			return refused
		}
	}
	if n > maxBatchGet {
		return invalid("Too many items requested for the BatchGetItem call: %d", n)
	}
	return nil
}

func (f *Front) checkBatchWrite(r *http.Request, items object) *refusal {
	n, size, seen := 0, 0, map[string]bool{}
	for table := range items {
		s := f.tables.schema(r, table)
		for _, request := range items.list(table) {
			n++
			put, key := request.object("PutRequest").object("Item"), request.object("DeleteRequest").object("Key")
			if (put == nil) == (key == nil) {
				return invalid("Supplied AttributeValue has more than one datatypes set: a write request is either a put or a delete")
			}
			refused := first(checkValues(key))
			if put != nil {
				size += itemSize(put)
				refused, key = first(checkItem(put), s.checkKeysOf(put)), s.keyOf(put)
			} else if refused == nil {
				refused = s.checkKey(key)
			}
			if refused != nil {
				return refused
			}
			id := identity(table, key)
			if seen[id] {
				return invalid("Provided list of item keys contains duplicates: %s", id)
			}
			seen[id] = true
		}
	}
	switch {
	case n > maxBatchWrite:
		return invalid("Too many items requested for the BatchWriteItem call: %d", n)
	case size > maxBatchBytes:
		return invalid("The batch has %d bytes, not at most %d", size, maxBatchBytes)
	}
	return nil
}

// checkTransaction checks the actions, and that no two are for one item.
func (f *Front) checkTransaction(r *http.Request, actions []object, kinds []string) *refusal {
	seen, size := map[string]bool{}, 0
	for _, a := range actions {
		if len(a) != 1 {
			return invalid("TransactItems can only contain one of Check, Put, Update or Delete")
		}
		for _, kind := range kinds {
			in := a.object(kind)
			if in == nil {
				continue
			}
			put, key := in.object("Item"), in.object("Key")
			if refused := f.checkAction(r, in, put, key); refused != nil {
				return refused
			}
			if put != nil {
				size += itemSize(put)
				key = f.tables.seen(in.text("TableName")).keyOf(put)
			}
			id := identity(in.text("TableName"), key)
			if seen[id] {
				return invalid("Transaction request cannot include multiple operations on one item: %s", id)
			}
			seen[id] = true
		}
	}
	if size > maxTransaction {
		return invalid("The transaction has %d bytes, not at most %d", size, maxTransaction)
	}
	return nil
}

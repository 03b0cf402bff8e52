package table

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/tidwall/btree"
)

// query is a parsed Query, or a Scan.
type query struct {
	index   int  // -1: the table
	whole   bool // a Scan
	hash    string
	low     string // the lowest sort key
	high    string // the sort keys are lower
	after   *row   // the last row of the page before
	forward bool
	limit   int  // 0: none
	count   bool // no items
}

const (
	next   = "\x00" // the lowest text after s is s+next
	beyond = "\xff" // above every text: UTF-8 has no such byte
)

// query checks and parses a Query.
func (t *Table) query(in *dynamodb.QueryInput) (*expressions, *query, error) {
	t.mu.Lock()
	defer t.mu.Unlock()

	e, err := t.expressions(in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	if err != nil {
		return nil, nil, err
	}
	e.inKey = e.parse(in.KeyConditionExpression, "KeyConditionExpression", keyExpression)
	e.inFilter = e.parse(in.FilterExpression, "FilterExpression", conditionExpression)
	e.inProjection = e.parse(in.ProjectionExpression, "ProjectionExpression", projectionExpression)
	if err := e.complete(); err != nil {
		return nil, nil, err
	}
	q := &query{index: -1, high: beyond, forward: in.ScanIndexForward == nil || *in.ScanIndexForward, limit: int(aws.ToInt32(in.Limit)), count: in.Select == types.SelectCount}
	hash, sort := t.schema.Hash, t.schema.Sort
	if in.IndexName != nil {
		if q.index = slices.IndexFunc(t.schema.Indexes, func(i Index) bool { return i.Name == *in.IndexName }); q.index < 0 {
			return nil, nil, invalid("The table does not have the specified index: %s", *in.IndexName)
		}
		if aws.ToBool(in.ConsistentRead) {
			return nil, nil, invalid("Consistent reads are not supported on global secondary indexes")
		}
		hash, sort = t.schema.Indexes[q.index].Hash, t.schema.Indexes[q.index].Sort
	}
	if in.KeyConditionExpression == nil || in.Select != "" && !q.count || in.Limit != nil && *in.Limit < 1 {
		return nil, nil, invalid("a query of this table has a key condition, no Select but COUNT, and no limit below 1")
	}
	if err := q.narrow(e, hash, sort); err != nil {
		return nil, nil, err
	}
	if in.ExclusiveStartKey != nil {
		if q.after, err = t.startOf(q.index, in.ExclusiveStartKey); err != nil {
			return nil, nil, err
		}
		if q.after.hash != q.hash {
			return nil, nil, invalid("The provided starting key is outside query boundaries based on provided conditions")
		}
	}
	return e, q, nil
}

// narrow sets the range of the key condition.
func (q *query) narrow(e *expressions, hash, sort string) error {
	k := e.inKey.key
	if k.hash.in(&e.scope) != hash || k.sort != "" && k.sort.in(&e.scope) != sort {
		return invalid("Query condition missed key schema element: %s and %s", hash, sort)
	}
	var err error
	if q.hash, err = keyText(Item{hash: e.values[k.value]}, hash, maxHashBytes); err != nil || k.sort == "" {
		return err
	}
	bounds := make([]string, len(k.bounds))
	for i, name := range k.bounds {
		if bounds[i], err = keyText(Item{sort: e.values[name]}, sort, maxSortBytes); err != nil {
			return err
		}
	}
	switch low := bounds[0]; k.operator {
	case "begins_with":
		q.low, q.high = low, low+beyond
	case "BETWEEN":
		if bounds[1] < low {
			return invalid("The BETWEEN operator requires upper bound to be greater than or equal to lower bound")
		}
		q.low, q.high = low, bounds[1]+next
	case "=":
		q.low, q.high = low, low+next
	case ">":
		q.low = low + next
	case ">=":
		q.low = low
	case "<":
		q.high = low
	case "<=":
		q.high = low + next
	}
	return nil
}

// startOf returns the row of an ExclusiveStartKey. The row need not exist.
func (t *Table) startOf(index int, start Item) (*row, error) {
	k, err := t.keyOf(start)
	if err != nil {
		return nil, err
	}
	r := &row{hash: k.Hash, sort: k.Sort, key: k}
	names := map[string]bool{t.schema.Hash: true, t.schema.Sort: true}
	if index >= 0 {
		hash, sort := t.schema.Indexes[index].Hash, t.schema.Indexes[index].Sort
		names[hash], names[sort] = true, true
		if r.hash, err = keyText(start, hash, maxHashBytes); err != nil {
			return nil, err
		}
		if r.sort, err = keyText(start, sort, maxSortBytes); err != nil {
			return nil, err
		}
	}
	if len(start) != len(names) {
		return nil, invalid("The provided starting key is invalid")
	}
	return r, nil
}

// page is the answer to a Query or a Scan.
type page struct {
	items   []Item
	matched int
	scanned int
	last    Item // the key to go on after; nil: the end
}

// page reads rows up to the limit, or up to 1 MB. The filter applies afterwards: a page may
// be empty and not the last.
func (t *Table) page(e *expressions, q *query) (page, error) {
	var p page
	bytes := 0
	visit := func(r *row) bool {
		if !q.whole && (r.hash != q.hash || r.sort < q.low || r.sort >= q.high) {
			return false
		}
		if q.after != nil && r.key == q.after.key && r.sort == q.after.sort {
			return true
		}
		item := r.item
		if q.index < 0 {
			if item = t.committed(r.key, item); item == nil {
				return true
			}
		}
		p.scanned++
		bytes += r.bytes
		if e.meets(e.inFilter, item) {
			if p.matched++; !q.count {
				p.items = append(p.items, e.shown(item))
			}
		}
		if p.scanned == q.limit || bytes >= maxPageBytes {
			p.last = t.lastKey(q.index, r)
			return false
		}
		return true
	}
	t.walk(q, visit)
	return p, e.err
}

// walk visits the rows of the partition in the order of the query, from the first that may
// belong to the page.
func (t *Table) walk(q *query, visit func(*row) bool) {
	tree := t.items
	if q.index >= 0 {
		tree = t.indexes[q.index]
	}
	if q.forward {
		from := &row{hash: q.hash, sort: q.low}
		if q.after != nil && order(from, q.after) {
			from = q.after
		}
		t.withHidden(q, tree).Ascend(from, visit)
		return
	}
	from := &row{hash: q.hash, sort: q.high}
	if q.after != nil && order(q.after, from) {
		from = q.after
	}
	t.withHidden(q, tree).Descend(from, visit)
}

// withHidden returns the rows of the table as Query and Scan see them: with items that a
// transaction under way deletes.
func (t *Table) withHidden(q *query, tree *btree.BTreeG[*row]) *btree.BTreeG[*row] {
	if q.index >= 0 || len(t.hidden) == 0 {
		return tree
	}
	tree = tree.Copy()
	for k, h := range t.hidden {
		if r := (&row{hash: k.Hash, sort: k.Sort, key: k, item: h.before, bytes: ItemSize(h.before)}); h.before != nil {
			tree.Set(r)
		}
	}
	return tree
}

// lastKey returns the LastEvaluatedKey at the row.
func (t *Table) lastKey(index int, r *row) Item {
	last := Item{
		t.schema.Hash: &types.AttributeValueMemberS{Value: r.key.Hash}, t.schema.Sort: &types.AttributeValueMemberS{Value: r.key.Sort},
	}
	if index >= 0 {
		last[t.schema.Indexes[index].Hash] = &types.AttributeValueMemberS{Value: r.hash}
		last[t.schema.Indexes[index].Sort] = &types.AttributeValueMemberS{Value: r.sort}
	}
	return last
}

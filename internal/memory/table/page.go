package table

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/tidwall/btree"
)

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
	matched int32
	scanned int32
	last    Item // the key to go on after; nil: the end
}

// page reads rows up to the limit, or up to 1 MB. The filter applies afterwards: a page may
// be empty and not the last.
func (t *Table) page(e *expressions, q *query) page {
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
	return p
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
func (t *Table) withHidden(q *query, all rows) rows {
	tree, ok := all.(*btree.BTreeG[*row])
	if !ok || q.index >= 0 || len(t.hidden) == 0 {
		return all
	}
	tree = tree.Copy()
	for k, all := range t.hidden {
		if before := all[0].before; before != nil {
			tree.Set(&row{hash: k.Hash, sort: k.Sort, key: k, item: before, bytes: ItemSize(before)})
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

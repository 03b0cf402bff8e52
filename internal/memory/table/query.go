package table

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
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
	limit   int32 // 0: none
	count   bool  // no items
}

const (
	next   = "\x00" // the lowest text after s is s+next
	beyond = "\xff" // above every text: UTF-8 has no such byte
)

// query checks and parses a Query.
func (t *Table) query(in *dynamodb.QueryInput) (*expressions, *query, error) {
	if err := t.request(in.TableName, in, "TableName", "IndexName", "KeyConditionExpression", "FilterExpression", "ProjectionExpression",
		"ExpressionAttributeNames", "ExpressionAttributeValues", "ConsistentRead", "ScanIndexForward", "Limit", "Select", "ExclusiveStartKey"); err != nil {
		return nil, nil, err
	}
	e := t.expressions(in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	e.inKey = e.parse(in.KeyConditionExpression, "KeyConditionExpression", keyExpression)
	e.inFilter = e.parse(in.FilterExpression, "FilterExpression", conditionExpression)
	e.inProjection = e.parse(in.ProjectionExpression, "ProjectionExpression", projectionExpression)
	if err := e.complete(); err != nil {
		return nil, nil, err
	}
	q := &query{index: -1, high: beyond, forward: in.ScanIndexForward == nil || *in.ScanIndexForward, count: in.Select == types.SelectCount}
	if in.KeyConditionExpression == nil || in.Select != "" && !q.count || q.count && in.ProjectionExpression != nil {
		return nil, nil, invalid("a query of this table has a key condition, and no Select but COUNT, without a projection")
	}
	var err error
	if q.limit, err = limit(in.Limit); err != nil {
		return nil, nil, err
	}
	hash, sort := t.schema.Hash, t.schema.Sort
	if in.IndexName != nil {
		if q.index = slices.IndexFunc(t.schema.Indexes, func(i Index) bool { return i.Name == *in.IndexName }); q.index < 0 {
			return nil, nil, invalid("The table does not have the specified index: %s", *in.IndexName)
		}
		if in.ConsistentRead != nil && *in.ConsistentRead {
			return nil, nil, invalid("Consistent reads are not supported on global secondary indexes")
		}
		hash, sort = t.schema.Indexes[q.index].Hash, t.schema.Indexes[q.index].Sort
	}
	if err := q.narrow(e, hash, sort); err != nil {
		return nil, nil, err
	}
	if err := t.fits(e, q, hash, sort); err != nil {
		return nil, nil, err
	}
	return e, q, t.goesOn(q, in.ExclusiveStartKey)
}

// limit returns the limit of a page; 0: none.
func limit(given *int32) (int32, error) {
	if given != nil && *given < 1 {
		return 0, invalid("Value %d at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1", *given)
	}
	return aws.ToInt32(given), nil
}

// fits returns an error for a filter of the keys, which belong to the key condition:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.FilterExpression.html
// and for a projection of attributes that the index lacks.
func (t *Table) fits(e *expressions, q *query, hash, sort string) error {
	if e.inFilter != nil {
		for _, n := range e.inFilter.attributes {
			if name := n.in(&e.scope); name == hash || name == sort {
				return invalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: %s", name)
			}
		}
	}
	if e.inProjection != nil && q.index >= 0 {
		for _, p := range e.inProjection.projection {
			if name := p[0].in(&e.scope); !slices.Contains([]string{hash, sort, t.schema.Hash, t.schema.Sort}, name) {
				return invalid("One or more parameter values were invalid: Global secondary index %s does not project %s", t.schema.Indexes[q.index].Name, name)
			}
		}
	}
	return nil
}

// goesOn sets the start after the page before.
func (t *Table) goesOn(q *query, start Item) (err error) {
	if start == nil {
		return nil
	}
	if q.after, err = t.startOf(q.index, start); err != nil {
		return err
	}
	if q.after.hash != q.hash || q.after.sort < q.low || q.after.sort >= q.high {
		return invalid("The provided starting key is outside query boundaries based on provided conditions")
	}
	return nil
}

// narrow sets the range of the key condition.
func (q *query) narrow(e *expressions, hash, sort string) error {
	k := e.inKey.key
	if k.hash.in(&e.scope) != hash || k.sort != "" && k.sort.in(&e.scope) != sort {
		return invalid("Query condition missed key schema element: %s and %s", hash, sort)
	}
	var err error
	if q.hash, err = keyValue(e.values[k.value], hash, maxHashBytes); err != nil || k.sort == "" {
		return err
	}
	var bounds [2]string
	for i, name := range k.bounds {
		if bounds[i], err = keyValue(e.values[name], sort, maxSortBytes); err != nil {
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
	case ">":
		q.low = low + next
	case "<":
		q.high = low
	}
	return nil
}

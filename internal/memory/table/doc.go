// Package table is a DynamoDB table in one process, which takes the requests of the SDK.
// Tests, the simulator and make dev run the deployed store over it.
//
// It supports GetItem, BatchGetItem, TransactGetItems, Query, Scan, PutItem, UpdateItem,
// BatchWriteItem of deletes and TransactWriteItems; global secondary indexes with KEYS_ONLY, which are
// sparse and lag; a time to live; and faults, which Table.Around chooses.
//
// # What it refuses
//
// No part of a request is ignored: a field that the table does not support is an error that
// names the field. So are legacy parameters, consumed capacity, metrics of item
// collections, checks of a transaction without a write, ReturnValues but ALL_NEW of an update,
// Select but COUNT, segments and indexes of a Scan, several tables in one batch, puts of a batch,
// projections of a transaction of reads, keys that are not strings, numbers other than whole ones of 64 bits
// and floats in their shortest decimal form, sums of floats, nulls, sets of binary values, projections of
// nested paths, elements of lists in a path, attribute_type, other comparators than those of the grammar,
// comparisons with other values than strings and numbers, and of two paths but for an order of paths of
// different lengths, functions with other values than strings, differences, operands in parentheses, and a
// key condition that begins with the sort key. Malformed requests are refused before Around sees them.
//
// # What differs
//
//   - A read of the table without ConsistentRead sees every write, which DynamoDB does not
//     guarantee. Only indexes lag.
//   - Scan returns partitions in the order of their names; in DynamoDB they have no order.
//   - A transaction that repeats the token of another one counts as its repetition.
//   - Error messages name the reason, in AWS's words where these are known.
//   - AWS does not document the sizes of sets: here they count as lists. See ItemSize.
//
// # Grammar
//
//	condition  = and { "OR" and }
//	and        = not { "AND" not }
//	not        = "NOT" not | basic | "(" condition ")"
//	basic      = "attribute_exists" "(" path ")" | "attribute_not_exists" "(" path ")"
//	           | "begins_with" "(" path "," value ")" | "contains" "(" path "," value ")"
//	           | operand comparator operand
//	comparator = "=" | "<" | "<="
//	operand    = value | path | "size" "(" path ")"
//
//	update     = clause { clause }, each kind once
//	clause     = "SET" path "=" sum { "," path "=" sum } | "REMOVE" path { "," path }
//	           | "ADD" name value { "," name value } | "DELETE" name value { "," name value }
//	sum        = part [ "+" part ]
//	part       = value | path | "if_not_exists" "(" path "," part ")" | "list_append" "(" part "," part ")"
//
//	key        = name "=" value [ "AND" sort ]
//	sort       = name ( "<" | ">" ) value | name "BETWEEN" value "AND" value
//	           | "begins_with" "(" name "," value ")"
//	projection = name { "," name }
//
//	path       = name { "." name }
//	name       = letters, digits and "_" that are no reserved word | "#" letters
//	value      = ":" letters
//
// Keywords are case-insensitive; functions are not.
//
// # Sources
//
// All pages are below https://docs.aws.amazon.com/amazondynamodb/latest/:
//
//   - developerguide/Expressions.OperatorsAndFunctions.html: conditions, precedence
//   - developerguide/Expressions.UpdateExpressions.html: clauses, ADD and DELETE of
//     attributes that are not nested
//   - developerguide/Query.KeyConditionExpressions.html and Query.FilterExpression.html: key
//     conditions, filters after the page, no filter of keys
//   - developerguide/Query.Pagination.html: pages of 1 MB, and a last key that may be followed
//     by nothing
//   - developerguide/Constraints.html: sizes, keys, expressions of 4 KB and 300 operators,
//     32 levels
//   - developerguide/HowItWorks.NamingRulesDataTypes.html: the range of numbers, sets
//   - developerguide/ReservedWords.html: the 573 words
//   - developerguide/CapacityUnitCalculations.html: sizes of items
//   - developerguide/GSI.html: projections, sparse rows, the lag
//   - developerguide/howitworks-ttl.html: removal within days, and none after five years
//   - developerguide/transaction-apis.html: isolation, tokens
//   - APIReference/API_BatchGetItem.html and API_BatchWriteItem.html: 100 and 25 parts, 16 MB,
//     what is left, and the throttle when all is left
//   - APIReference/API_TransactWriteItems.html: 100 parts, 4 MB, tokens for ten minutes, reasons
//     of a cancellation
//
// Redundant parentheses, operands of types that an operator never takes, empty maps of names
// and values, and a start key outside the range of the query are also refused by DynamoDB,
// although no page says so.
package table

package cost

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"

	"surehook.example/surehook/internal/memory/table"
)

// Ledger counts the billed units of the SDK's requests. It is safe for
// concurrent use. The ledger must see every write to the table, from the first on:
// the cost of a write depends on the item before the write.
//
// A request counts once, with its answer. The SDK's own retries after a network
// fault do not count.
type Ledger struct {
	schema table.Schema
	peek   Peek
	sent   func(Message)

	mu       sync.Mutex
	items    map[string]Footprint // what is in the table
	usage    Usage
	requests map[string]float64 // by operation and kind of item, such as "PutItem event"
	units    map[string]float64 // write units by kind of item, and read units by operation
	sizes    map[string]int     // of the largest written item of each kind
	faults   []error
}

// Peek reads an item past the ledger; nil for no item.
type Peek func(ctx context.Context, key Item) (Item, error)

// Message is a message on a queue, or of a schedule for a queue.
type Message struct {
	Queue string // URL, or ARN of a schedule's target
	Body  string
	Delay int32  // seconds
	At    string // a schedule's expression; empty for a message to a queue
}

// NewLedger returns the ledger of the table. The ledger calls sent with every message.
func NewLedger(schema table.Schema, peek Peek, sent func(Message)) *Ledger {
	l := &Ledger{schema: schema, peek: peek, sent: sent, items: make(map[string]Footprint)}
	l.Reset()
	return l
}

// Config returns a copy of the config. The ledger watches the clients of the copy.
func (l *Ledger) Config(cfg aws.Config) aws.Config {
	cfg = cfg.Copy()
	cfg.APIOptions = append(cfg.APIOptions, func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("CostLedger", l.handle), middleware.After)
	})
	return cfg
}

func (l *Ledger) handle(
	ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
) (middleware.InitializeOutput, middleware.Metadata, error) {
	out, metadata, err := next.HandleInitialize(ctx, in)
	l.record(ctx, in.Parameters, out.Result, err)
	return out, metadata, err
}

// Reset sets all counts to zero, and keeps the items of the table.
func (l *Ledger) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.usage, l.requests, l.units = make(Usage), make(map[string]float64), make(map[string]float64)
	l.sizes, l.faults = make(map[string]int), nil
}

// Add counts usage that does not come from the SDK's requests.
func (l *Ledger) Add(u Usage) {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.usage = l.usage.Plus(u)
}

// Account is the counts of a ledger.
type Account struct {
	Usage    Usage
	Requests map[string]float64 // by operation and kind of item, such as "PutItem event" or "SendMessageBatch"
	Units    map[string]float64 // of DynamoDB: "write delivery", "read BatchGetItem"
	Sizes    map[string]int     // bytes of the largest item of each kind that was written
}

// Account returns the counts since Reset. The error reports requests without a
// known price.
func (l *Ledger) Account() (Account, error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	a := Account{Usage: maps.Clone(l.usage), Requests: maps.Clone(l.requests), Units: maps.Clone(l.units), Sizes: maps.Clone(l.sizes)}
	if len(l.faults) > 0 {
		return a, fmt.Errorf("%d requests could not be priced, such as: %w", len(l.faults), l.faults[0])
	}
	return a, nil
}

// Plus returns the sum of the account and n times the other account.
func (a Account) Plus(other Account, n float64) Account {
	a.Usage = a.Usage.Plus(other.Usage.Times(n))
	a.Requests, a.Units = maps.Clone(a.Requests), maps.Clone(a.Units)
	for request, made := range other.Requests {
		a.Requests[request] += n * made
	}
	for kind, units := range other.Units {
		a.Units[kind] += n * units
	}
	return a
}

// Writes returns the number of writes to items of the kind; empty: of all kinds.
func (a Account) Writes(kind string) float64 {
	sum := 0.0
	for name, n := range a.Requests {
		op, of, _ := strings.Cut(name, " ")
		if (op == "PutItem" || op == "UpdateItem" || op == "TransactWriteItems") && (kind == "" || of == kind) {
			sum += n
		}
	}
	return sum
}

// record counts one request.
func (l *Ledger) record(ctx context.Context, in, out any, err error) {
	service, op := awsmiddleware.GetServiceID(ctx), awsmiddleware.GetOperationName(ctx)
	switch service {
	case "DynamoDB":
		l.recordTable(ctx, op, in, out, err)
	case "SQS":
		l.recordQueue(op, in, out)
	case "Scheduler":
		l.recordSchedule(op, in)
	case "SNS":
		l.count(op, Usage{Publication: 1})
	case "KMS":
		l.count(op, Usage{KeyRequest: 1})
	default:
		l.fault(fmt.Errorf("%s of %s", op, service))
	}
}

func (l *Ledger) count(op string, u Usage) {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.requests[op]++
	l.usage = l.usage.Plus(u)
}

func (l *Ledger) fault(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.faults = append(l.faults, err)
}

package sim_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory/table"
	"surehook.example/surehook/internal/rule/admission"
)

const (
	// A partition takes 1,000 writes and 3,000 reads a second. The simulator makes at most
	// about 300 effects a second, so its partitions take a hundredth of that.
	partitionWrites = 10
	partitionReads  = 30

	longestCommit = 20 * time.Second // of a change of an endpoint, from the first item to the last
	longestTear   = time.Second      // of another transaction
	longestStarve = 5 * time.Second  // of a partition whose keys stay unprocessed
	longestRetry  = 2 * time.Second  // of the client, after a lost answer
)

// processKey is the key of the process in its contexts.
type processKey struct{}

// around is called around each request to the table. The requests of a process are effects.
func (w *simulation) around(ctx context.Context, r *table.Call, do func() error) error {
	p, _ := ctx.Value(processKey{}).(*process)
	if p == nil { // the simulation looks at the table
		return do()
	}
	c := &call{p: p, op: r.Operation, about: p.contents(r), kind: write, at: p.now, request: r, grant: make(chan verdict, 1)}
	if !r.Write {
		c.kind = read
	}
	made := p.now
	v := p.await(c)
	defer p.visible()
	switch v {
	case dead:
		return errDead
	case refused:
		p.sawFailed(r)
		p.spoil(r)
		return c.refusal()
	case granted, lost, repeated, partial, unprocessed, dying:
	}
	err := p.write(r, made, do)
	p.tell(c, err, v)
	if err != nil || v == lost {
		p.sawFailed(r)
	}
	if failsCondition(err) {
		p.beat(r)
	} else if err != nil || v == lost {
		p.spoil(r)
	}
	if v == lost {
		p.sawLost(r)
	}
	switch {
	case v == dying:
		p.die()
		return errDead
	case c.commit > 0 && err == nil:
		p.shift(r, p.now, unseen)
		err = p.linger(c, "commit", c.commit)
		p.shift(r, unseen, p.now)
	case v == repeated:
		if err := p.linger(c, "repeat", p.within(longestRetry)); err != nil {
			return err
		}
		err = p.write(r, made, do)
	}
	if v == lost {
		return context.DeadlineExceeded
	}
	return err
}

// limitsOf returns the endpoint whose limits the request reads or writes.
func limitsOf(r *table.Call) (hook.EndpointID, bool) {
	if len(r.Keys) != 1 || r.Keys[0].Sort != "limits" {
		return "", false
	}
	id, ok := strings.CutPrefix(r.Keys[0].Hash, "endpoint#")
	return hook.EndpointID(id), ok
}

// spoil counts a faulty request to the limits of an endpoint.
func (p *process) spoil(r *table.Call) {
	if id, ok := limitsOf(r); ok {
		if p.spoilt == nil {
			p.spoilt = make(map[hook.EndpointID]int)
		}
		p.spoilt[id]++
	}
}

// beat counts a write of the limits of an endpoint that met another writer.
func (p *process) beat(r *table.Call) {
	if id, ok := limitsOf(r); ok {
		if p.beaten == nil {
			p.beaten = make(map[hook.EndpointID]int)
		}
		p.beaten[id]++
	}
}

// sawLost notes the slots that a write without an answer took.
func (p *process) sawLost(r *table.Call) {
	if id, ok := limitsOf(r); ok && p.batch != nil {
		for _, key := range p.taken {
			if p.lost == nil {
				p.lost = make(map[string]hook.EndpointID)
			}
			p.lost[key] = id
		}
	}
}

// sawFailed counts a write of a delivery that failed, as its process knows: of its record, or of the
// attempt that moves out of the record before.
func (p *process) sawFailed(r *table.Call) {
	if !r.Write {
		return
	}
	k := r.Keys[0]
	if attempt, ok := strings.CutPrefix(k.Sort, "attempt#"); ok {
		k.Sort = "delivery#" + attempt[:strings.LastIndex(attempt, "#")]
	}
	if ref, ok := deliveryOf(k); ok {
		p.tries[ref]++
	}
}

// linger waits within a request.
func (p *process) linger(c *call, what string, d time.Duration) error {
	switch p.await(&call{p: p, op: what, about: c.about, kind: local, at: p.now.Add(d), request: c.request, grant: make(chan verdict, 1)}) {
	case dead:
		return errDead
	case dying:
		p.die()
		return errDead
	case granted, refused, lost, repeated, partial, unprocessed:
	}
	return nil
}

// contents names the request for the trace and for its order among others. Names are free
// of random texts: a run must repeat itself.
func (p *process) contents(r *table.Call) string {
	if r.Index != "" {
		return r.Index // one list makes several requests
	}
	if r.Operation == "Query" {
		in, _ := r.Input.(*dynamodb.QueryInput)
		return r.Hash + " " + texts(in.ExpressionAttributeValues) + texts(in.ExclusiveStartKey)
	}
	var keys []string
	for _, k := range r.Keys {
		if !strings.HasPrefix(k.Sort, "audit#") && !strings.HasPrefix(k.Sort, "erasure#") { // random ids
			keys = append(keys, k.String())
		}
	}
	slices.Sort(keys)
	about := strings.Join(keys, ", ")
	if len(r.Keys) == 0 { // a scan
		return about
	}
	if ref, ok := deliveryOf(r.Keys[0]); ok && p.messages(ref) > 1 {
		about += p.tasks(r)
	}
	switch in := r.Input.(type) {
	case *dynamodb.UpdateItemInput:
		if strings.HasPrefix(about, "shares#") {
			about += " of " + p.holders(in)
		}
		if r.Keys[0].Sort == "limits" && strings.HasPrefix(about, "endpoint#") { // leases are by delivery
			about += " of " + strings.Join(slices.Sorted(maps.Keys(signs(in))), ", ")
		}
		if strings.HasPrefix(about, "order#") { // several deliveries may move one sequence
			for _, name := range []string{":head", ":moved_by", ":last"} {
				if n, ok := in.ExpressionAttributeValues[name].(*types.AttributeValueMemberN); ok {
					about += " " + n.Value
				}
			}
		}
		if strings.HasPrefix(about, "job#") {
			about += " " + texts(in.ExpressionAttributeValues)
		}
	case *dynamodb.TransactWriteItemsInput: // two answers 410 disable an endpoint
		if first := in.TransactItems[0]; first.Update != nil && r.Keys[0].Sort == "endpoint" {
			for name, attribute := range first.Update.ExpressionAttributeNames {
				if since, ok := first.Update.ExpressionAttributeValues[":"+name[1:]].(*types.AttributeValueMemberN); ok && attribute == "status_since" {
					about += " since " + since.Value
				}
			}
		}
	}
	return about
}

// tasks returns which tasks of the batch a write of a delivery names. Writes for two copies
// of one message are the same.
func (p *process) tasks(r *table.Call) (all string) {
	var written string
	switch in := r.Input.(type) {
	case *dynamodb.PutItemInput:
		written = texts(in.Item)
	case *dynamodb.UpdateItemInput:
		written = texts(in.ExpressionAttributeValues)
	case *dynamodb.TransactWriteItemsInput:
		for _, part := range in.TransactItems {
			if part.Put != nil {
				written += texts(part.Put.Item)
			}
			if part.Update != nil {
				written += texts(part.Update.ExpressionAttributeValues)
			}
		}
	}
	for i, m := range p.batch {
		if strings.Contains(written, m.Task.Nonce) {
			all += fmt.Sprintf(" %d.", i+1)
		}
	}
	return all
}

// texts returns the strings of the attributes and of their sets, in the order of names.
func texts(all table.Item) string {
	var list []string
	for name, value := range all {
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			list = append(list, name+v.Value)
		case *types.AttributeValueMemberNS:
			list = append(list, name+strings.Join(v.Value, ","))
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// signs returns the holders of the leases in a change, each with + or -.
func signs(in *dynamodb.UpdateItemInput) map[string]string {
	signs := make(map[string]string)
	if leases, first := in.ExpressionAttributeValues[":leases"].(*types.AttributeValueMemberM); first {
		for holder := range leases.Value {
			signs[holder] = "+"
		}
	}
	for name, holder := range in.ExpressionAttributeNames {
		signs[holder] = "-"
		if in.ExpressionAttributeValues[":new"+strings.TrimPrefix(name, "#l")] != nil {
			signs[holder] = "+"
		}
	}
	return signs
}

// holders returns the deliveries of the process's tasks in a change of shares, with + or -.
// The names of holders have random nonces.
func (p *process) holders(in *dynamodb.UpdateItemInput) string {
	signs := signs(in)
	var all []string
	for _, m := range p.batch {
		due := admission.Due{Delivery: m.Task.Delivery.DeliveryID, Attempt: m.Task.Attempt, Nonce: m.Task.Nonce}
		if sign := signs[due.ShareKey()]; sign != "" {
			all = append(all, sign+m.Task.Delivery.String())
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// refusal returns the error of a refused request.
func (c *call) refusal() error {
	switch {
	case !c.conflict:
		return &types.ProvisionedThroughputExceededException{}
	case strings.HasPrefix(c.op, "Transact"):
		return &types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{{Code: aws.String("TransactionConflict")}}}
	}
	return &types.TransactionConflictException{}
}

// failsCondition reports whether a condition of the write failed.
func failsCondition(err error) bool {
	if _, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return true
	}
	canceled, ok := errors.AsType[*types.TransactionCanceledException](err)
	return ok && slices.ContainsFunc(canceled.CancellationReasons, func(r types.CancellationReason) bool {
		return aws.ToString(r.Code) == "ConditionalCheckFailed"
	})
}

// tell notes the request. Twins are done at the same time.
func (p *process) tell(c *call, err error, v verdict) {
	if !p.verbose {
		return
	}
	told := "ok"
	if failsCondition(err) {
		told = "condition failed"
	} else if err != nil {
		told = err.Error()
	}
	p.mu.Lock()
	defer p.mu.Unlock()

	p.note("%s %s %s: %s %s", p.name, c.op, c.about, told, v)
}

// prepare draws the faults within a granted request.
func (w *simulation) prepare(c *call) {
	r := c.request
	if !r.Write {
		return
	}
	if w.chance(w.rates.stale) {
		r.Lag = w.within(w.level.lag)
	}
	if w.rates.hot {
		r.Admit = func(written []table.Partition) error {
			for _, p := range written {
				if w.overloaded(p, true) {
					c.p.fault(refused)
					return &types.ProvisionedThroughputExceededException{}
				}
			}
			return nil
		}
	}
	endpoint := slices.ContainsFunc(r.Keys, func(k table.Key) bool { return k.Sort == "tenant" })
	if r.Operation != "TransactWriteItems" || w.calm || w.quiet || !endpoint && !w.chance(w.rates.tear) {
		return
	}
	w.count("torn transactions")
	c.commit = w.within(longestTear)
	if endpoint {
		c.commit = w.within(longestCommit)
	}
	r.Hidden = make(map[table.Key]bool)
	for _, k := range r.Keys {
		r.Hidden[k] = w.chance(0.5)
	}
}

// partition is the requests of one partition in one second.
type partition struct {
	second        time.Time
	reads, writes int
	starves       time.Time // its keys of batches stay unprocessed until then
}

// overloaded counts a request to the partition, and reports whether the table throttles it.
func (w *simulation) overloaded(name table.Partition, write bool) bool {
	p := w.partitions[name]
	if second := w.now.Truncate(time.Second); !p.second.Equal(second) {
		p.second, p.reads, p.writes = second, 0, 0
	}
	if write {
		p.writes++
	} else {
		p.reads++
	}
	w.partitions[name] = p
	if p.reads <= partitionReads && p.writes <= partitionWrites {
		return false
	}
	w.count("throttles of a partition")
	return true
}

// throttled reports whether the table throttles the read. A batch leaves the keys of
// throttled partitions unprocessed.
func (w *simulation) throttled(c *call) bool {
	r := c.request
	if r.Operation == "Query" {
		return w.rates.hot && w.overloaded(table.Partition{Index: r.Index, Hash: r.Hash}, false)
	}
	batch := strings.HasPrefix(r.Operation, "Batch")
	if r.Write && !batch || r.Operation == "Scan" {
		return false // see prepare; a scan reads all partitions
	}
	var hashes []string
	for _, k := range r.Keys {
		hashes = append(hashes, k.Hash)
	}
	slices.Sort(hashes)
	left := make(map[string]bool)
	all := slices.Compact(slices.Clone(hashes))
	for _, hash := range all {
		name := table.Partition{Hash: hash}
		if batch && w.chance(w.rates.refuse/4) {
			p := w.partitions[name]
			p.starves = w.now.Add(w.within(longestStarve))
			w.partitions[name] = p
		}
		starves := batch && w.now.Before(w.partitions[name].starves)
		left[hash] = starves || w.rates.hot && w.overloaded(name, r.Write)
		if left[hash] && !batch {
			return true
		}
	}
	for _, k := range r.Keys {
		if left[k.Hash] {
			if c.left == nil {
				c.left = make(map[table.Key]bool)
			}
			c.left[k] = true
		}
	}
	return len(c.left) == len(r.Keys)
}

// contended reports whether the table refuses a request because of a transaction: one under
// way always, and one at the same time perhaps.
func (w *simulation) contended(c *call) bool {
	transacts := func(r *table.Call) bool { return strings.HasPrefix(r.Operation, "Transact") }
	if !c.request.Write && !transacts(c.request) {
		return false
	}
	for _, other := range w.waiting {
		o := other.request
		if o == nil || !o.Write || other.p == c.p || !transacts(o) && !transacts(c.request) || !meet(o.Keys, c.request.Keys) {
			continue
		}
		if under := other.op == "commit"; under || !other.at.After(w.now) && w.chance(w.rates.contend) {
			c.conflict = true
			w.count("transaction conflicts")
			return true
		}
	}
	return false
}

func meet(a, b []table.Key) bool {
	return slices.ContainsFunc(a, func(k table.Key) bool { return slices.Contains(b, k) })
}

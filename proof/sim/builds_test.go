package sim_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/memory/table"
	"surehook.example/surehook/proof/world"
)

// In one seed in sixteen, an earlier and a later build run side by side: during a deployment,
// after its rollback, and during the next deployment. Each process is of one of the builds.
// Both run today's code. The later build writes what the earlier one does not know, and the
// store of the earlier one gets it to read:
//
//   - an attribute of its own in every item that the later build writes. No write of the
//     earlier build may drop it;
//   - words that the earlier build does not know, where words may join: a class of an
//     outcome, a signature scheme, a speed, an encoding of payloads. Each fails its record
//     alone, and its delivery waits for the later build;
//   - a field in every message.

const (
	laterAttribute = "later_build" // of the items of the later build
	laterWord      = "+"           // the end of a word of the later build
	laterWords     = 15            // in so many of a hundred writes
	laterField     = `,"later_build":{"words":["new"]}}`

	mixedEvery, mixedFrom = 16, 3 // seeds

	cannotRead = "records that the earlier build cannot read"
	keptBy     = "records of the later build that the earlier one changes"
)

// drawBuilds plans the deployments of such a seed.
func (w *simulation) drawBuilds() {
	if w.mixed = w.seed%mixedEvery == mixedFrom; !w.mixed {
		return
	}
	at := start.Add(w.within(4 * time.Minute))
	for range 3 { // deployed, rolled back, deployed again
		until := at.Add(w.within(3 * time.Minute))
		w.deployments = append(w.deployments, span{from: at, to: until})
		at = until.Add(time.Minute + w.within(4*time.Minute))
		w.plan.add(at.Add(-w.within(4*time.Minute)), w.forcePuzzles)
	}
	for _, s := range []*memory.Store{w.store, w.recordings} {
		s.Store = dynamo.Over(builds{s.Table, w}, memory.Schema().Name)
		s.Wait = world.NoWait
	}
}

// forcePuzzles replays an event with a record that an earlier build could not read, whatever
// the state of its deliveries.
func (w *simulation) forcePuzzles() {
	for _, e := range w.posted {
		if w.puzzles[e.ID] {
			w.handIn(e.Tenant, "replay puzzling "+string(e.ID), func(ctx context.Context, p *process) error {
				return second(p.wiring().Replayer().Event(ctx, e.Tenant, e.ID, replay.Request{By: operator, Force: true}))
			})
		}
	}
}

// isLater returns the build of the next process.
func (w *simulation) isLater() bool {
	later := false
	for i, d := range w.deployments {
		switch {
		case w.now.Before(d.from):
		case w.now.Before(d.to):
			later = w.chance(0.5)
		default:
			later = i != 1
		}
	}
	return later
}

// body returns the body of a message as the later build writes it.
func (w *simulation) body(text string) string {
	if !w.mixed {
		return text
	}
	return strings.TrimSuffix(text, "}") + laterField
}

// sentCheck returns the circuit check as its message says.
func (w *simulation) sentCheck(c hook.CircuitCheck) (hook.CircuitCheck, error) {
	body, err := hook.CircuitMessage{CircuitCheck: c}.Encode()
	if err != nil {
		return c, err
	}
	task, err := hook.DecodeCircuitMessage(w.body(body))
	return task.CircuitCheck, err
}

// sentJob returns the message of a job as its body says.
func (w *simulation) sentJob(m replay.Message) (replay.Message, error) {
	body, err := m.Encode()
	if err != nil {
		return m, err
	}
	return replay.DecodeMessage(w.body(body))
}

// builds are the requests of both builds to the table. The checks read as the later one.
type builds struct {
	dynamo.Requests

	w *simulation
}

func (b builds) GetItem(ctx context.Context, in *dynamodb.GetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	out, err := b.Requests.GetItem(ctx, in, options...)
	if err == nil {
		out.Item = b.w.readAs(ctx, out.Item)
	}
	return out, err
}

func (b builds) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	out, err := b.Requests.BatchGetItem(ctx, in, options...)
	if err == nil {
		for _, items := range out.Responses {
			b.w.readAllAs(ctx, items)
		}
	}
	return out, err
}

func (b builds) TransactGetItems(
	ctx context.Context, in *dynamodb.TransactGetItemsInput, options ...func(*dynamodb.Options),
) (*dynamodb.TransactGetItemsOutput, error) {
	out, err := b.Requests.TransactGetItems(ctx, in, options...)
	if err == nil {
		for i := range out.Responses {
			out.Responses[i].Item = b.w.readAs(ctx, out.Responses[i].Item)
		}
	}
	return out, err
}

func (b builds) Query(ctx context.Context, in *dynamodb.QueryInput, options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	out, err := b.Requests.Query(ctx, in, options...)
	if err == nil {
		b.w.readAllAs(ctx, out.Items)
	}
	return out, err
}

func (b builds) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	if p := ofLater(ctx); p != nil {
		put := *in
		put.Item = p.adds(put.Item)
		in = &put
	}
	return b.Requests.PutItem(ctx, in, options...)
}

func (b builds) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, options ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	if p := ofLater(ctx); p != nil {
		update := *in
		update.UpdateExpression, update.ExpressionAttributeNames, update.ExpressionAttributeValues = p.sets(
			update.Key, *in.UpdateExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
		in = &update
	}
	return b.Requests.UpdateItem(ctx, in, options...)
}

func (b builds) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options),
) (*dynamodb.TransactWriteItemsOutput, error) {
	if p := ofLater(ctx); p != nil {
		all := *in
		all.TransactItems = slices.Clone(in.TransactItems)
		for i, part := range all.TransactItems {
			switch {
			case part.Put != nil:
				put := *part.Put
				put.Item = p.adds(put.Item)
				all.TransactItems[i].Put = &put
			case part.Update != nil:
				u := *part.Update
				u.UpdateExpression, u.ExpressionAttributeNames, u.ExpressionAttributeValues = p.sets(
					u.Key, *u.UpdateExpression, u.ExpressionAttributeNames, u.ExpressionAttributeValues)
				all.TransactItems[i].Update = &u
			}
		}
		in = &all
	}
	return b.Requests.TransactWriteItems(ctx, in, options...)
}

// ofLater returns the process of the context, if it is of the later build.
func ofLater(ctx context.Context) *process {
	if p, _ := ctx.Value(processKey{}).(*process); p != nil && p.later {
		return p
	}
	return nil
}

// adds returns the item as the later build writes it.
func (p *process) adds(item table.Item) table.Item {
	item = maps.Clone(item)
	item[laterAttribute] = &types.AttributeValueMemberS{Value: p.name}
	k := keyOf(item)
	if !p.speaks(k) {
		return item
	}
	for name, value := range item {
		item[name] = reworded(name, value, func(word string) string { return word + laterWord })
	}
	if k.Sort == "event" && item["encoding"] == nil {
		item["encoding"] = &types.AttributeValueMemberS{Value: laterWord}
	}
	return item
}

// sets returns the update as the later build writes it.
func (p *process) sets(
	key table.Item, expression string, names map[string]string, values table.Item,
) (*string, map[string]string, table.Item) {
	const set = "SET "
	addition := set + "#later = :later"
	if strings.Contains(expression, set) {
		expression = strings.Replace(expression, set, addition+", ", 1)
	} else {
		expression = addition + " " + expression
	}
	all, with := map[string]string{"#later": laterAttribute}, table.Item{":later": &types.AttributeValueMemberS{Value: p.name}}
	maps.Copy(all, names)
	maps.Copy(with, values)
	if p.speaks(keyOf(key)) {
		for alias, name := range names {
			value := ":" + strings.TrimPrefix(alias, "#")
			if with[value] != nil {
				with[value] = reworded(name, with[value], func(word string) string { return word + laterWord })
			}
		}
	}
	return &expression, all, with
}

// speaks reports whether the process of the later build writes a new word to the item. Its
// goroutines ask in any order, so no random number decides.
func (p *process) speaks(k table.Key) bool {
	h := fnv.New32a()
	_, _ = fmt.Fprint(h, p.seed, p.name, k) // a hash accepts every write
	return h.Sum32()%100 < laterWords
}

func keyOf(item table.Item) table.Key {
	hash, _ := item["pk"].(*types.AttributeValueMemberS)
	sort, _ := item["sk"].(*types.AttributeValueMemberS)
	return table.Key{Hash: hash.Value, Sort: sort.Value}
}

// reworded returns the value of the attribute with other words.
func reworded(attribute string, value types.AttributeValue, change func(string) string) types.AttributeValue {
	text := func(v types.AttributeValue) types.AttributeValue {
		if s, ok := v.(*types.AttributeValueMemberS); ok {
			return &types.AttributeValueMemberS{Value: change(s.Value)}
		}
		return v
	}
	switch attribute {
	case "encoding", "speed":
		return text(value)
	case "schemes":
		if l, ok := value.(*types.AttributeValueMemberL); ok {
			all := slices.Clone(l.Value)
			for i := range all {
				all[i] = text(all[i])
			}
			return &types.AttributeValueMemberL{Value: all}
		}
	case "last":
		if m, ok := value.(*types.AttributeValueMemberM); ok {
			fields := maps.Clone(m.Value)
			fields["class"] = text(fields["class"])
			return &types.AttributeValueMemberM{Value: fields}
		}
	}
	return value
}

// known returns the item in the words of both builds, and whether it has others.
func known(item table.Item) (plain table.Item, others bool) {
	plain = make(table.Item, len(item))
	for name, value := range item {
		plain[name] = reworded(name, value, func(word string) string {
			bare, other := strings.CutSuffix(word, laterWord)
			others = others || other
			return bare
		})
	}
	if s, ok := plain["encoding"].(*types.AttributeValueMemberS); ok && s.Value == "" {
		delete(plain, "encoding")
	}
	return plain, others
}

// readAllAs is readAs for all items.
func (w *simulation) readAllAs(ctx context.Context, items []map[string]types.AttributeValue) {
	for i := range items {
		items[i] = w.readAs(ctx, items[i])
	}
}

// readAs returns the item as the build of the process reads it.
func (w *simulation) readAs(ctx context.Context, item table.Item) table.Item {
	plain, other := known(item)
	if !other {
		return item
	}
	p, _ := ctx.Value(processKey{}).(*process)
	if p == nil || p.later {
		return plain
	}
	p.puzzled(keyOf(item))
	return item
}

// puzzled notes that the process cannot read the item. Its deliveries wait for the later
// build, and messages about them come again.
func (p *process) puzzled(k table.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.unknown = append(p.unknown, k)
	if _, event, ok := strings.Cut(k.Sort, "#evt_"); ok {
		id, _, _ := strings.Cut(event, "#")
		p.puzzles["evt_"+hook.EventID(id)] = true
	}
	p.count(cannotRead)
	endpoint, _, _ := strings.Cut(strings.TrimPrefix(k.Hash, "endpoint#"), "#")
	p.troubled[hook.EndpointID(endpoint)] = p.now
	for _, m := range p.batch {
		if d := m.Task.Delivery; concerns(k, d.DeliveryID) {
			p.blame("later build", d)
		}
	}
}

// concerns reports whether the item is a record of the delivery.
func concerns(k table.Key, d hook.DeliveryID) bool {
	return k.Hash == "event#"+string(d.Event) || strings.HasPrefix(k.Hash, "endpoint#"+string(d.Endpoint))
}

// reads reports whether the process could read all records of the delivery so far.
func (p *process) reads(d hook.DeliveryID) bool {
	return !slices.ContainsFunc(p.unknown, func(k table.Key) bool { return concerns(k, d) })
}

// checkKept: a write of the earlier build keeps what the later one added. An event replaces
// an expired one, and a repeated notification is a new item.
func (w *simulation) checkKept(k table.Key, before, after table.Item) {
	if before[laterAttribute] == nil || after == nil {
		return
	}
	if after[laterAttribute] == before[laterAttribute] {
		w.count(keptBy)
	}
	if after[laterAttribute] != nil {
		return
	}
	if kind, _, _ := strings.Cut(k.Sort, "#"); kind != "event" || w.late == 0 {
		w.fail(checkKept, "a write of %s drops the attribute of a later build", k)
	}
}

// TestBuilds runs seeds with two builds: the earlier one meets many records that it cannot
// read, and everything ends well.
func TestBuilds(t *testing.T) {
	t.Parallel()

	sum := make(map[string]int)
	for n := range *seedsFlag / 5 {
		w := simulate(t, options{seed: mixedEvery*(*firstFlag/mixedEvery+n) + mixedFrom, level: levels()[n%3]})
		if w.broken != "" {
			t.Errorf("seed %d, level %s: %s", w.seed, w.level.name, w.broken)
		}
		for what, n := range w.counts {
			sum[what] += n
		}
	}
	if sum[cannotRead] < 25 || sum[keptBy] < 50 {
		t.Errorf("%d records that the earlier build cannot read, %d that it changes; want many", sum[cannotRead], sum[keptBy])
	}
}

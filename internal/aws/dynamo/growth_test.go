package dynamo_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/memory/table"
)

// counted counts the requests of posts, and the items that they read.
type counted struct {
	*table.Table

	requests, items atomic.Int64
}

func (c *counted) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	c.requests.Add(1)
	c.items.Add(1)
	return c.Table.GetItem(ctx, in, o...)
}

func (c *counted) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	out, err := c.Table.BatchGetItem(ctx, in, o...)
	c.requests.Add(1)
	for _, items := range out.Responses {
		c.items.Add(int64(len(items)))
	}
	return out, err
}

func (c *counted) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	out, err := c.Table.Query(ctx, in, o...)
	c.requests.Add(1)
	c.items.Add(int64(len(out.Items)))
	return out, err
}

// grown is a tenant with so many endpoints, of which 3 get an order.paid.
type grown struct {
	*counted

	store    *dynamo.Store
	acceptor *ingest.Acceptor
	last     hook.Endpoint
}

func grow(tb testing.TB, endpoints int) *grown {
	tb.Helper()

	g := &grown{counted: &counted{Table: memory.NewStore().Table}}
	g.store = dynamo.Over(g.counted, memory.Schema().Name)
	if err := g.store.SetTenantLimits(tb.Context(), "acme", hook.TenantLimits{Endpoints: hook.MaxEndpointsPerTenant}); err != nil {
		tb.Fatal(err)
	}
	for n := range endpoints {
		id := hook.NewEndpointID()
		g.last = hook.Endpoint{ID: id, Tenant: "acme", URL: "https://example.com/" + string(id), EventTypes: []string{fmt.Sprintf("user.n%d", n%200)}, Status: hook.StatusActive}
		if n < 3 {
			g.last.EventTypes = []string{"order.*"}
		}
		if err := g.store.CreateEndpoint(tb.Context(), g.last); err != nil {
			tb.Fatal(err)
		}
	}
	g.last.Version = 1
	g.acceptor = &ingest.Acceptor{
		Store: g.store, Queue: memory.NewTaskQueues(time.Now), Directory: ingest.NewDirectory(g.store), Retention: time.Hour, Now: time.Now, NewID: hook.NewEventID,
	}
	g.post(tb)
	return g
}

// post posts an event, and returns the requests and the items read.
func (g *grown) post(tb testing.TB) (requests, items int64) {
	tb.Helper()

	r, i := g.requests.Load(), g.items.Load()
	result, err := g.acceptor.Accept(tb.Context(), "acme", ingest.Request{Type: "order.paid", Payload: []byte(`{}`)})
	if err != nil || result.Deliveries != 3 {
		tb.Fatalf("Accept() = %+v, %v; want 3 deliveries", result, err)
	}
	return g.requests.Load() - r, g.items.Load() - i
}

func (g *grown) change(tb testing.TB) {
	tb.Helper()

	if err := g.store.UpdateEndpoint(tb.Context(), g.last); err != nil {
		tb.Fatal(err)
	}
	g.last.Version++
}

// What a warm process reads for a post does not grow with the endpoints of the tenant, also after a
// change of one of them.
func TestPost_readsDoNotGrow(t *testing.T) {
	t.Parallel()

	for _, endpoints := range []int{10, 2000} {
		g := grow(t, endpoints)
		if requests, items := g.post(t); requests != 1 || items != 1 {
			t.Errorf("with %d endpoints a post reads %d items in %d requests; want the version", endpoints, items, requests)
		}
		g.change(t)
		if requests, items := g.post(t); requests != 3 || items != 3 {
			t.Errorf("with %d endpoints a post after a change reads %d items in %d requests; want the version, the tenant and the endpoint", endpoints, items, requests)
		}
	}
}

// BenchmarkGrowth reports the exponents of the time of a post, and of a post after a change of one
// endpoint, against the number of endpoints.
func BenchmarkGrowth(b *testing.B) {
	const few, many = 100, hook.MaxEndpointsPerTenant
	small, large := grow(b, few), grow(b, many)
	median := func(g *grown, before func(*grown)) float64 {
		var took []time.Duration
		for range 101 {
			before(g)
			start := time.Now()
			g.post(b)
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		return float64(took[50])
	}
	exponent := func(before func(*grown)) float64 {
		return math.Log(median(large, before)/median(small, before)) / math.Log(many/few)
	}
	for b.Loop() {
		b.ReportMetric(exponent(func(*grown) {}), "post-exponent")
		b.ReportMetric(exponent(func(g *grown) { g.change(b) }), "change-exponent")
	}
}

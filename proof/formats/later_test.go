package formats_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/memory/table"
)

// TestLater asks the API about a delivery of a later build, in a state that today's code
// does not know: requests for the delivery fail, lists leave it out, and no replay starts.
func TestLater(t *testing.T) {
	t.Parallel() // after TestWritten, which may write the folder

	s := load(t, read(t, unreleased).items)
	e := event(3, target())
	ref := hook.QueuedDelivery(e, target()).Ref()
	alter(t, s, ref)
	queues := memory.NewTaskQueues(now)
	for _, tt := range []struct {
		method, path, body string
		status             int
		without            string // in the answer
	}{
		{method: http.MethodGet, path: "/events/" + string(e.ID) + "/deliveries", status: http.StatusOK, without: ref.String()},
		{method: http.MethodGet, path: "/deliveries?idempotency_key=" + e.IdempotencyKey, status: http.StatusOK, without: ref.String()},
		{method: http.MethodGet, path: "/deliveries", status: http.StatusOK, without: ref.String()},
		{method: http.MethodGet, path: "/deliveries/" + ref.String(), status: http.StatusInternalServerError},
		{method: http.MethodPost, path: "/deliveries/" + ref.String() + "/replay", body: `{"force":true}`, status: http.StatusInternalServerError},
		{method: http.MethodPost, path: "/events/" + string(e.ID) + "/replay", body: `{"force":true}`, status: http.StatusMultiStatus, without: `"state"`},
	} {
		r := httptest.NewRequestWithContext(t.Context(), tt.method, "/v1/tenants/acme"+tt.path, strings.NewReader(tt.body))
		caller := hook.Principal{Key: caller, Tenant: hook.AllTenants, Scopes: []hook.Scope{hook.ScopeAdmin}}
		w := httptest.NewRecorder()
		api(s, queues).ServeHTTP(w, r.WithContext(httpapi.WithPrincipal(r.Context(), caller)))
		body, _ := io.ReadAll(w.Body)
		if w.Code != tt.status || tt.without != "" && strings.Contains(string(body), tt.without) {
			t.Errorf("%s %s = %d %s; want %d without %s", tt.method, tt.path, w.Code, body, tt.status, tt.without)
		}
	}
	for _, queue := range hook.Queues() {
		if n, err := queues.Visible(t.Context(), queue); err != nil || n != 0 {
			t.Errorf("the queue %s has %d tasks, %v; want none: no replay can start", queue, n, err)
		}
	}
}

// alter writes a state of a later build to the record.
func alter(t *testing.T, s *memory.Store, ref hook.DeliveryRef) {
	t.Helper()

	var changed int
	var key table.Key
	s.Table.Each(func(k table.Key, _ table.Item) bool {
		if kindOf(k) == "endpoint.delivery" && strings.Contains(k.Sort, string(ref.Event)) {
			key = k
			changed++
		}
		return true
	})
	_, err := s.Table.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName:                 aws.String(memory.Schema().Name),
		Key:                       table.Item{"pk": &types.AttributeValueMemberS{Value: key.Hash}, "sk": &types.AttributeValueMemberS{Value: key.Sort}},
		UpdateExpression:          aws.String("SET #state = :state"),
		ExpressionAttributeNames:  map[string]string{"#state": "state"},
		ExpressionAttributeValues: table.Item{":state": &types.AttributeValueMemberS{Value: "dreaming"}},
	})
	if err != nil || changed != 1 {
		t.Fatalf("change %d records: %v; want one", changed, err)
	}
}

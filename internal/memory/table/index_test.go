package table_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"surehook.example/surehook/internal/memory/table"
)

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html
func TestIndex_Lags(t *testing.T) {
	t.Parallel()

	tb := table.New(schema())
	now, lag := time.Unix(1_800_000_000, 0), time.Duration(0)
	tb.Now = func() time.Time { return now }
	tb.Around = func(_ context.Context, c *table.Call, do func() error) error {
		c.Lag = lag
		return do()
	}
	put := func(sort, state string, after time.Duration) {
		lag = after
		mustPut(t, tb, with(key("p", sort), item{"state_pk": str("open"), "state_sk": str(state)}))
	}
	states := func() (all string) {
		out, err := tb.Query(t.Context(), &dynamodb.QueryInput{TableName: name(), IndexName: aws.String("by_state"), KeyConditionExpression: aws.String("state_pk = :o"), ExpressionAttributeValues: item{":o": str("open")}})
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range out.Items {
			all += plain(it["sk"]) + plain(it["state_sk"]) + " "
		}
		return all
	}
	put("a", "1", time.Minute)
	put("b", "1", 0)
	if got := states(); got != "b1 " {
		t.Errorf("at once: %q", got)
	}
	put("a", "2", 0) // after its first change
	if got := states(); got != "b1 " {
		t.Errorf("a later change came before the earlier one: %q", got)
	}
	put("b", "3", time.Hour)
	now = now.Add(time.Minute)
	if got := states(); got != "b1 a2 " {
		t.Errorf("after a minute: %q", got)
	}
	put("b", "4", time.Second) // waits for the change before it
	now = now.Add(time.Second)
	if got := states(); got != "b1 a2 " {
		t.Errorf("after the lag of the last change alone: %q", got)
	}
	now = now.Add(time.Hour)
	if got := states(); got != "a2 b4 " {
		t.Errorf("after all changes: %q", got)
	}
	lag = 0
	mustDelete(t.Context(), t, tb, key("p", "a"))
	if got := states(); got != "b4 " {
		t.Errorf("after the removal: %q", got)
	}
}

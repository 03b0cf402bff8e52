// An outbox on DynamoDB. An order and its event are written in one transaction, and a relay posts
// the events to Surehook.
//
//	dynamodb order acme 4711   places an order
//	dynamodb relay             posts events, until Ctrl-C; several may run
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/client"
	"surehook.example/surehook/client/openapi"
)

// claim is how long other relays leave an event to the one that claimed it: longer than a post,
// which the client gives up after 35 s.
const claim = 40 * time.Second

var orders, outbox = os.Getenv("STACK") + "-orders", os.Getenv("STACK") + "-outbox"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	settings, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	db := dynamodb.NewFromConfig(settings)
	switch {
	case len(os.Args) == 4 && os.Args[1] == "order":
		err = order(ctx, db, os.Args[2], os.Args[3])
	case len(os.Args) == 2 && os.Args[1] == "relay":
		err = relay(ctx, db)
	default:
		err = errors.New("usage: dynamodb order TENANT ID, or dynamodb relay")
	}
	if err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}

type item = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func at(t time.Time) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(t.UnixMilli(), 10)}
}

// order stores an order and its event, or neither.
func order(ctx context.Context, db *dynamodb.Client, tenant, id string) error {
	payload, err := json.Marshal(map[string]string{"order": id})
	if err != nil {
		return err
	}
	event := item{
		"key": text(rand.Text()), "tenant": text(tenant), "event_type": text("order.placed"), "payload": text(string(payload)), "due_at": at(time.Now()),
	}
	_, err = db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: &outbox, Item: event}},
		{Put: &types.Put{TableName: &orders, Item: item{"tenant": text(tenant), "id": text(id)}, ConditionExpression: aws.String("attribute_not_exists(id)")}},
	}})
	return err
}

// relay posts events until the end of ctx.
func relay(ctx context.Context, db *dynamodb.Client) error {
	// An attempt is enough: the event stays in the outbox until its post succeeds.
	surehook, err := client.New(os.Getenv("SUREHOOK_URL"), os.Getenv("SUREHOOK_API_KEY"), client.Options{Attempts: 1})
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		if err := drain(ctx, db, surehook); err != nil && ctx.Err() == nil {
			log.Print(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	return nil
}

// drain posts all events that are due. The table has no others but claimed and failed ones, so a scan is short.
func drain(ctx context.Context, db *dynamodb.Client, surehook *client.Client) error {
	pages := dynamodb.NewScanPaginator(db, &dynamodb.ScanInput{
		TableName: &outbox, FilterExpression: aws.String("due_at <= :now"), ExpressionAttributeValues: item{":now": at(time.Now())},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, event := range page.Items {
			if err := post(ctx, db, surehook, event); err != nil {
				return err
			}
		}
	}
	return nil
}

// post claims an event, posts it, and deletes it. If this relay dies before, the claim ends, and the
// next post with the same key makes no second event.
func post(ctx context.Context, db *dynamodb.Client, surehook *client.Client, event item) error {
	name := item{"key": event["key"]}
	_, err := db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &outbox, Key: name, UpdateExpression: aws.String("SET due_at = :end"), ConditionExpression: aws.String("due_at = :seen"),
		ExpressionAttributeValues: item{":seen": event["due_at"], ":end": at(time.Now().Add(claim))},
	})
	if taken := new(types.ConditionalCheckFailedException); errors.As(err, &taken) {
		return nil // by another relay
	}
	if err != nil {
		return err
	}
	value := func(name string) string { return event[name].(*types.AttributeValueMemberS).Value }
	posted, err := surehook.Events.Create(ctx, value("tenant"), openapi.EventRequest{
		EventType: value("event_type"), Payload: []byte(value("payload")), IdempotencyKey: value("key"),
	})
	if err != nil {
		fmt.Println("later", value("key"), err)
		_, err = db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &outbox, Key: name, UpdateExpression: aws.String("SET problem = :problem"), ConditionExpression: aws.String("attribute_exists(due_at)"),
			ExpressionAttributeValues: item{":problem": text(err.Error())},
		})
		return err
	}
	fmt.Println("posted", value("key"), posted.Id)
	_, err = db.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &outbox, Key: name})
	return err
}

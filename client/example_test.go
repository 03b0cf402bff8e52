package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"surehook.example/surehook/client"
	"surehook.example/surehook/client/openapi"
	"surehook.example/surehook/localstack/dev"
)

// surehook runs the API in this process. A real address and key come from the deployment.
func surehook() (c *client.Client, stop func()) {
	s, err := dev.Start(context.Background(), dev.Options{})
	if err != nil {
		log.Panic(err)
	}
	c, err = client.New(s.URL, s.Key)
	if err != nil {
		log.Panic(err)
	}
	return c, func() { _ = s.Stop(context.Background()) }
}

func Example() {
	ctx := context.Background()
	c, stop := surehook()
	defer stop()

	_, err := c.Endpoints.Create(ctx, "acme", openapi.EndpointCreate{Url: "http://127.0.0.1:9/hooks", Uid: "orders", EventTypes: []string{"order.*"}})
	if err != nil {
		log.Panic(err)
	}
	accepted, err := c.Events.Create(ctx, "acme", openapi.EventRequest{EventType: "order.paid", Payload: []byte(`{"order": 4711}`)})
	if err != nil {
		log.Panic(err)
	}
	event, err := c.Events.Get(ctx, "acme", accepted.Id)
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(accepted.Deliveries, event.EventType, string(event.Payload))
	// Output: 1 order.paid {"order":4711}
}

func ExampleEndpoints_List() {
	ctx := context.Background()
	c, stop := surehook()
	defer stop()

	for _, uid := range []string{"crm", "erp", "shop"} {
		if _, err := c.Endpoints.Create(ctx, "acme", openapi.EndpointCreate{Url: "http://127.0.0.1:9/" + uid, Uid: uid}); err != nil {
			log.Panic(err)
		}
	}
	n := 0
	for e, err := range c.Endpoints.List(ctx, "acme", openapi.ListEndpointsParams{Limit: client.Set(2)}) {
		if err != nil {
			log.Panic(err)
		}
		if e.Status == "active" {
			n++
		}
	}
	fmt.Println(n)
	// Output: 3
}

func ExampleProblem() {
	c, stop := surehook()
	defer stop()

	_, err := c.Events.Create(context.Background(), "acme", openapi.EventRequest{EventType: "order paid", Payload: []byte(`1`)})
	if p, ok := errors.AsType[*client.Problem](err); ok {
		fmt.Println(p.Code, p.Fields[0].Field)
	}
	// Output: invalid event_type
}

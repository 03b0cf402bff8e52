// Command example is the program of README.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"surehook.example/surehook/client"
	"surehook.example/surehook/client/openapi"
)

func main() {
	ctx := context.Background()
	surehook, err := client.New(os.Getenv("SUREHOOK_URL"), os.Getenv("SUREHOOK_API_KEY"))
	if err != nil {
		log.Fatal(err)
	}

	endpoint, err := surehook.Endpoints.Create(ctx, "acme", openapi.EndpointCreate{Url: "http://127.0.0.1:3000/", EventTypes: []string{"order.*"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(endpoint.Id, endpoint.Secret)

	event, err := surehook.Events.Create(ctx, "acme", openapi.EventRequest{
		EventType: "order.paid", Payload: []byte(`{"order": 4711}`), IdempotencyKey: "order-4711-paid",
	})
	var problem *client.Problem
	var unreachable *client.UnreachableError
	switch {
	case errors.As(err, &problem):
		fmt.Println(problem.Status, problem.Code, problem.Fields)
	case errors.As(err, &unreachable):
		fmt.Println(unreachable.Address)
	default:
		fmt.Println(event.Id, event.Deliveries)
	}

	for one, err := range surehook.Endpoints.List(ctx, "acme") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(one.Url, one.Status)
	}
}

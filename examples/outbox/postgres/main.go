// An outbox on Postgres. An order and its event are written in one transaction, and a relay posts
// the events to Surehook.
//
//	postgres order acme 4711   places an order
//	postgres relay             posts events, until Ctrl-C; several may run
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/jackc/pgx/v5"

	"surehook.example/surehook/client"
	"surehook.example/surehook/client/openapi"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch {
	case len(os.Args) == 4 && os.Args[1] == "order":
		err = order(ctx, os.Args[2], os.Args[3])
	case len(os.Args) == 2 && os.Args[1] == "relay":
		err = relay(ctx)
	default:
		err = errors.New("usage: postgres order TENANT ID, or postgres relay")
	}
	if err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}

// order stores an order and its event, or neither.
func order(ctx context.Context, tenant, id string) error {
	db, err := pgx.Connect(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	payload, err := json.Marshal(map[string]string{"order": id})
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO outbox (tenant, event_type, payload) VALUES ($1, 'order.placed', $2)", tenant, payload); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "INSERT INTO orders (tenant, id) VALUES ($1, $2)", tenant, id)
		return err
	})
}

// relay posts events until the end of ctx. After a trouble of the database it connects again.
func relay(ctx context.Context) error {
	// An attempt is enough: the event stays in the outbox until its post succeeds.
	surehook, err := client.New(os.Getenv("SUREHOOK_URL"), os.Getenv("SUREHOOK_API_KEY"), client.Options{Attempts: 1})
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		if err := drain(ctx, surehook); err != nil && ctx.Err() == nil {
			log.Print(err)
		}
		wait(ctx)
	}
	return nil
}

func wait(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Second):
	}
}

// drain posts events over one connection.
func drain(ctx context.Context, surehook *client.Client) error {
	db, err := pgx.Connect(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	defer db.Close(context.WithoutCancel(ctx))
	for ctx.Err() == nil {
		found, err := next(ctx, db, surehook)
		if err != nil {
			return err
		}
		if !found {
			wait(ctx)
		}
	}
	return nil
}

// next posts one event, and deletes it. The event is locked until the end of the transaction, and
// other relays skip it. If this relay dies before, Postgres releases the lock, and the next post with
// the same key makes no second event.
func next(ctx context.Context, db *pgx.Conn, surehook *client.Client) (found bool, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		var id, tenant, eventType string
		var payload []byte
		err := tx.QueryRow(ctx, `SELECT id, tenant, event_type, payload FROM outbox
			WHERE due_at <= now() ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED`).Scan(&id, &tenant, &eventType, &payload)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		found = true
		event, err := surehook.Events.Create(ctx, tenant, openapi.EventRequest{EventType: eventType, Payload: payload, IdempotencyKey: id})
		if err != nil {
			fmt.Println("later", id, err)
			_, err = tx.Exec(ctx, "UPDATE outbox SET due_at = now() + interval '10 seconds', problem = $2 WHERE id = $1", id, err.Error())
			return err
		}
		fmt.Println("posted", id, event.Id)
		_, err = tx.Exec(ctx, "DELETE FROM outbox WHERE id = $1", id)
		return err
	})
	return found, err
}

/** The path of a delivery: the page of its event, with the delivery open. The id of a delivery holds the id of its event. */
export function deliveryPath(tenant: string, delivery: string): string {
  return `/t/${tenant}/events/evt_${delivery.split('_')[1]}?delivery=${delivery}`
}

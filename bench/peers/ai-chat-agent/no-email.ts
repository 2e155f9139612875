export class EmailMessage {}

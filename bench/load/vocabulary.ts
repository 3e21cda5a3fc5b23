// Ordinary words that are one WordPiece token each in the tokenizer of the shipped models. compare-answers.ts asks the server
// to count them before anything is timed.

const WORDS = `
the a customer order payment account team support service product delivery address number system error page report problem
question answer message email phone call manager office contract price discount credit card bank charge month week day
morning evening yesterday today tomorrow late early broken missing wrong right new old first second last next please help
need want ask tell send receive return change cancel confirm check update open close start stop wait work fail because after
before during without with from into over under again still never always often only also very quite blue green red small
large heavy light fast slow long short high low good bad better worse house school hospital airport train station hotel
restaurant garden kitchen window door table chair company market store shop item box package label screen battery cable
engine computer server network password file legal security technical sales human resource policy rule law court insurance
claim damage accident doctor patient water fire power energy gas oil food coffee tea bread`;

export const VOCABULARY: readonly string[] = WORDS.trim().split(/\s+/);

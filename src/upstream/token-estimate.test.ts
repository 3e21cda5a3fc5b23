// Texts counted by the real tokenizer `o200k_base` (npm package gpt-tokenizer 4.0.0), beside our estimate of them.

import { describe, expect, it } from 'vitest';
import { measureText, toTokens } from './token-estimate.ts';

/** Share of the true count that an estimate may be off. */
const TOLERANCE = 0.4;
/** The same for all of them together. */
const MEAN_TOLERANCE = 0.15;

const SAMPLES: readonly { readonly name: string; readonly tokens: number; readonly text: string }[] = [
  {
    name: 'English',
    tokens: 49,
    text: 'The invoice was sent twice last month, and nobody in the billing department noticed it until a customer called to complain. We are sorry for the trouble; the second payment has been returned to your account, which may take up to five working days.',
  },
  {
    name: 'German',
    tokens: 52,
    text: 'Die Rechnung wurde im letzten Monat zweimal verschickt, und in der Buchhaltung fiel es niemandem auf, bis eine Kundin sich beschwerte. Wir bitten um Entschuldigung; der zweite Betrag wird in den nächsten Tagen auf Ihr Konto zurücküberwiesen.',
  },
  {
    name: 'French',
    tokens: 55,
    text: 'La facture a été envoyée deux fois le mois dernier, et personne au service de la comptabilité ne l’a remarqué avant qu’une cliente ne se plaigne. Nous vous prions de nous excuser ; le second paiement vous sera remboursé sous cinq jours.',
  },
  {
    name: 'Spanish',
    tokens: 54,
    text: 'La factura se envió dos veces el mes pasado y nadie en el departamento de facturación se dio cuenta hasta que una clienta llamó para quejarse. Lamentamos las molestias; el segundo pago se devolverá a su cuenta en cinco días hábiles.',
  },
  {
    name: 'Polish',
    tokens: 79,
    text: 'Faktura została wysłana dwukrotnie w zeszłym miesiącu i nikt w dziale księgowości tego nie zauważył, dopóki klientka nie zadzwoniła ze skargą. Przepraszamy za kłopot; druga płatność zostanie zwrócona na Państwa konto w ciągu pięciu dni.',
  },
  {
    name: 'Turkish',
    tokens: 63,
    text: 'Fatura geçen ay iki kez gönderildi ve bir müşteri şikâyet etmek için arayana kadar muhasebe bölümünde kimse bunu fark etmedi. Verdiğimiz rahatsızlıktan dolayı özür dileriz; ikinci ödeme beş iş günü içinde hesabınıza iade edilecektir.',
  },
  {
    name: 'Vietnamese',
    tokens: 59,
    text: 'Hóa đơn đã được gửi hai lần vào tháng trước và không ai trong bộ phận kế toán nhận ra cho đến khi một khách hàng gọi điện phàn nàn. Chúng tôi xin lỗi vì sự bất tiện này; khoản thanh toán thứ hai sẽ được hoàn lại trong năm ngày.',
  },
  {
    name: 'Russian',
    tokens: 61,
    text: 'В прошлом месяце счёт был отправлен дважды, и никто в бухгалтерии этого не заметил, пока клиентка не позвонила с жалобой. Приносим извинения за неудобства; второй платёж будет возвращён на ваш счёт в течение пяти рабочих дней.',
  },
  {
    name: 'Greek',
    tokens: 66,
    text: 'Το τιμολόγιο στάλθηκε δύο φορές τον περασμένο μήνα και κανείς στο λογιστήριο δεν το πρόσεξε μέχρι που μια πελάτισσα τηλεφώνησε για να παραπονεθεί. Ζητούμε συγγνώμη για την ταλαιπωρία.',
  },
  {
    name: 'Arabic',
    tokens: 57,
    text: 'أُرسلت الفاتورة مرتين الشهر الماضي، ولم ينتبه أحد في قسم المحاسبة إلى ذلك حتى اتصلت إحدى العميلات للشكوى. نعتذر عن الإزعاج، وستُعاد الدفعة الثانية إلى حسابكم خلال خمسة أيام عمل.',
  },
  {
    name: 'Hebrew',
    tokens: 58,
    text: 'החשבונית נשלחה פעמיים בחודש שעבר, ואיש במחלקת הנהלת החשבונות לא שם לב עד שלקוחה התקשרה להתלונן. אנו מתנצלים על אי הנוחות, והתשלום השני יוחזר לחשבונך.',
  },
  {
    name: 'Hindi',
    tokens: 49,
    text: 'पिछले महीने चालान दो बार भेजा गया था और लेखा विभाग में किसी ने इस पर ध्यान नहीं दिया जब तक एक ग्राहक ने शिकायत करने के लिए फ़ोन नहीं किया। असुविधा के लिए हमें खेद है।',
  },
  {
    name: 'Thai',
    tokens: 51,
    text: 'ใบแจ้งหนี้ถูกส่งสองครั้งเมื่อเดือนที่แล้ว และไม่มีใครในแผนกบัญชีสังเกตเห็นจนกระทั่งลูกค้าโทรมาร้องเรียน เราขออภัยในความไม่สะดวก',
  },
  {
    name: 'Chinese',
    tokens: 48,
    text: '上个月发票寄了两次，会计部门没有人注意到，直到一位客户打电话来投诉。我们对此深表歉意，第二笔款项将在五个工作日内退回到您的账户。',
  },
  {
    name: 'Japanese',
    tokens: 66,
    text: '先月、請求書が二度送付されましたが、お客様からお電話をいただくまで経理部の誰も気づきませんでした。ご迷惑をおかけして申し訳ございません。二回目のお支払いは五営業日以内に返金いたします。',
  },
  {
    name: 'Korean',
    tokens: 69,
    text: '지난달에 청구서가 두 번 발송되었지만 고객 한 분이 항의 전화를 하실 때까지 회계 부서의 누구도 알아차리지 못했습니다. 불편을 드려 죄송합니다. 두 번째 결제 금액은 영업일 기준 오 일 이내에 환불됩니다.',
  },
  {
    name: 'TypeScript',
    tokens: 77,
    text: 'export function costPicoUsd({ inputTokens, cachedTokens, outputTokens }: BilledTokens, price: Price): bigint {\n  const cached = Math.min(cachedTokens, inputTokens);\n  return (\n    BigInt(inputTokens - cached) * BigInt(price.inputMicroUsd) +\n    BigInt(cached) * BigInt(price.cachedInputMicroUsd)\n  );\n}\n',
  },
  {
    name: 'JSON',
    tokens: 75,
    text: '{"id":"inv_20931","customer":{"name":"Jane Doe","email":"jane.doe@example.com"},"lines":[{"sku":"A-100","quantity":2,"price":19.95},{"sku":"B-220","quantity":1,"price":149.0}],"paid":false,"dueDate":"2026-12-01"}',
  },
  {
    name: 'Markdown',
    tokens: 64,
    text: "## Streams\n\n- The head goes out when the upstream's has come, before the first chunk.\n- The last event is `data: [DONE]`.\n\n| setting | default |\n|---|---|\n| `idleTimeoutMs` | 60000 |\n| `totalTimeoutMs` | 300000 |\n",
  },
  {
    name: 'Numbers',
    tokens: 53,
    text: '3.14159 2.71828 1.41421 1.73205 1.61803 0.57721 6.02214 1.38064 9.80665 299792458 1602176634',
  },
];

function errorOf({ text, tokens }: (typeof SAMPLES)[number]): number {
  return toTokens(measureText(text)) / tokens - 1;
}

describe('the estimate of tokens', () => {
  it.each(SAMPLES)('is near the count of a real tokenizer: $name', (sample) => {
    expect(Math.abs(errorOf(sample))).toBeLessThan(TOLERANCE);
  });

  it('is nearer on the whole, neither high nor low', () => {
    const errors = SAMPLES.map(errorOf);
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(mean(errors.map(Math.abs))).toBeLessThan(MEAN_TOLERANCE);
    expect(Math.abs(mean(errors))).toBeLessThan(MEAN_TOLERANCE / 2);
  });

  it('of a text is the sum over its pieces, whatever the pieces', () => {
    for (const { text } of SAMPLES) {
      const pieces = text.match(/.{1,3}/gsu) ?? [];
      expect(pieces.map(measureText).reduce((sum, value) => sum + value, 0)).toBe(measureText(text));
    }
  });

  it('of no text is nothing, of any text at least one token', () => {
    expect(toTokens(measureText(''))).toBe(0);
    for (const text of [' ', 'a', '0', '\n', '\u0000', 'é', 'я', '字', '🎉', '\ud800']) {
      expect(toTokens(measureText(text))).toBeGreaterThan(0);
    }
  });
});
